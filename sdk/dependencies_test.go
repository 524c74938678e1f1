// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/sdk"
)

// following is a provider of ManualSchedule that is active while the ConfigMap
// which spec.reason names says "open". Of other namespaces it decides nothing.
func following(namespace string, options ...sdk.Option) *sdk.Provider {
	return sdk.New(manualKind, func(ctx context.Context, s *v1alpha1.ManualSchedule, _ time.Time) (sdk.Decision, error) {
		if s.Namespace != namespace {
			return sdk.Decision{}, nil
		}
		harbour, err := sdk.ConfigMaps.Get(ctx, s.Spec.Reason)
		if err != nil {
			return sdk.Decision{}, err
		}
		return sdk.Decision{Active: harbour.Data["lock"] == "open"}, nil
	}, append([]sdk.Option{sdk.WithReads(sdk.ConfigMaps)}, options...)...)
}

// accountWith returns a client configuration of a user of the test's own that
// has these rights and no others.
func accountWith(t *testing.T, rules []rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	user := strings.ToLower(strings.NewReplacer("/", ".", "_", "-").Replace(t.Name()))
	grant(t, user, rules)
	config := devplanetest.Plane(t).ImpersonatedConfig(user, "system:authenticated")
	config.UserAgent = t.Name()
	return config
}

func grant(t *testing.T, user string, rules []rbacv1.PolicyRule) {
	t.Helper()
	c := devplanetest.Client(t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, Rules: rules}
	if err := c.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if err := c.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(c.Delete(ctx, role), c.Delete(ctx, binding)); err != nil {
			t.Error(err)
		}
	})
	for _, rule := range rules {
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		right := authorizationv1.ResourceAttributes{Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource}
		if len(rule.ResourceNames) > 0 {
			right.Name = rule.ResourceNames[0]
		}
		devplanetest.AwaitGranted(t, user, right)
	}
}

func makeConfigMap(t *testing.T, namespace, name, lock string) *corev1.ConfigMap {
	t.Helper()
	m := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{"lock": lock},
	}
	if err := devplanetest.Client(t).Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAScheduleFollowsTheObjectThatItDependsOn(t *testing.T) {
	namespace, elsewhere := devplanetest.Namespace(t), devplanetest.Namespace(t)
	provider := following(namespace)
	seen := watchRequests(t, t.Name())
	start(t, sdk.Settings{RESTConfig: accountWith(t, provider.Rules())}, provider)
	makeConfigMap(t, elsewhere, "harbour", "open") // of the same name, and of no concern
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Reason: "harbour"})
	awaitNotReady(t, s, sdk.ReasonObjectNotFound)
	if s.Status.Active != nil {
		t.Errorf("there is a verdict without the object: %t", *s.Status.Active)
	}

	harbour := makeConfigMap(t, namespace, "harbour", "open")
	awaitVerdict(t, s, true)
	patch(t, harbour, `{"data":{"lock":"closed"}}`)
	awaitVerdict(t, s, false)
	patch(t, harbour, `{"data":{"lock":"open"}}`)
	awaitVerdict(t, s, true)
	if err := devplanetest.Client(t).Delete(t.Context(), harbour); err != nil {
		t.Fatal(err)
	}
	awaitNotReady(t, s, sdk.ReasonObjectNotFound)
	if !*s.Status.Active {
		t.Error("the verdict did not stand when the object went")
	}
	makeConfigMap(t, namespace, "harbour", "closed")
	awaitVerdict(t, s, false)

	other := makeConfigMap(t, namespace, "other", "closed")
	patch(t, s, `{"spec":{"reason":"other"}}`)
	awaitVerdict(t, s, false)
	patch(t, other, `{"data":{"lock":"open"}}`)
	awaitVerdict(t, s, true)

	for _, line := range seen.untilNow() {
		if strings.Contains(line, "configmaps") &&
			line != "watch configmaps "+namespace+"/harbour 200" && line != "watch configmaps "+namespace+"/other 200" {
			t.Errorf("it asks for more than the objects that it depends on: %s", line)
		}
		if strings.HasSuffix(line, " 403") {
			t.Errorf("it asks for what it may not do: %s", line)
		}
	}
}

func TestAnObjectOnWhichNothingDependsCostsNothing(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	provider := following(namespace)
	seen := watchRequests(t, t.Name())
	start(t, sdk.Settings{RESTConfig: accountWith(t, provider.Rules())}, provider)
	harbour, other := makeConfigMap(t, namespace, "harbour", "open"), makeConfigMap(t, namespace, "other", "open")
	for _, name := range []string{"desk-0", "desk-1", "desk-2"} {
		awaitVerdict(t, create(t, namespace, name, v1alpha1.ManualScheduleSpec{Reason: "harbour"}), true)
	}
	requests := seen.untilNow()
	if n := strings.Count(strings.Join(requests, "\n"), "watch configmaps"); n != 1 {
		t.Errorf("one object that three schedules depend on is watched %d times:\n%s", n, strings.Join(requests, "\n"))
	}

	patch(t, other, `{"data":{"lock":"closed"}}`)                        // nobody depends on it
	patch(t, harbour, `{"metadata":{"annotations":{"reviewed":"yes"}}}`) // a change that changes no decision
	settled := create(t, namespace, "settled", v1alpha1.ManualScheduleSpec{Reason: "harbour"})
	awaitVerdict(t, settled, true)
	for _, line := range seen.untilNow() {
		if !strings.Contains(line, "/settled") {
			t.Errorf("it costs a request: %s", line)
		}
	}
}

func TestARestartWritesNothingThoughNothingIsKnownAtFirst(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	provider := following(namespace)
	config := accountWith(t, provider.Rules())
	makeConfigMap(t, namespace, "harbour", "open")
	program := start(t, sdk.Settings{RESTConfig: config}, provider)
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Reason: "harbour"})
	awaitVerdict(t, s, true)
	missing := create(t, namespace, "missing", v1alpha1.ManualScheduleSpec{Reason: "nowhere"})
	awaitNotReady(t, missing, sdk.ReasonObjectNotFound)
	program.stop()

	seen := watchRequests(t, t.Name())
	start(t, sdk.Settings{RESTConfig: config}, following(namespace))
	for _, name := range []string{"harbour", "nowhere"} { // what is known last is evaluated last
		created := create(t, namespace, "after-"+name, v1alpha1.ManualScheduleSpec{Reason: "harbour"})
		awaitVerdict(t, created, true)
	}
	for _, line := range seen.untilNow() {
		if strings.HasPrefix(line, "patch") && !strings.Contains(line, "/after-") {
			t.Errorf("the restart wrote: %s", line)
		}
	}
}

// TestRightsOnSomeNamesAreEnoughForThose shows that a Secret is read by a right
// on its name alone, and that the program recovers from a right that is missing.
func TestRightsOnSomeNamesAreEnoughForThose(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	c := devplanetest.Client(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tide-feed"}, StringData: map[string]string{"token": "hunter22"},
	}
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "other"}}
	if err := errors.Join(c.Create(t.Context(), secret), c.Create(t.Context(), other)); err != nil {
		t.Fatal(err)
	}
	feed := sdk.Secrets.Named("tide-feed")
	provider := sdk.New(manualKind, func(ctx context.Context, s *v1alpha1.ManualSchedule, _ time.Time) (sdk.Decision, error) {
		if s.Namespace != namespace {
			return sdk.Decision{}, nil
		}
		secret, err := sdk.Secrets.Get(ctx, s.Spec.Reason)
		if err != nil {
			return sdk.Decision{}, err
		}
		return sdk.Decision{Active: string(secret.Data["token"]) == "hunter22"}, nil
	}, sdk.WithReads(feed))
	rules := provider.Rules()
	own, reads := rules[:2], rules[2:]
	config := accountWith(t, own)
	start(t, sdk.Settings{RESTConfig: config}, provider)

	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Reason: "tide-feed"})
	awaitNotReady(t, s, sdk.ReasonObjectUnreadable)
	if message := readyOf(s).Message; !strings.Contains(message, `Secret "tide-feed"`) || !strings.Contains(message, "forbidden") {
		t.Errorf("it says %q", message)
	}
	grant(t, config.Impersonate.UserName, reads)
	awaitVerdict(t, s, true)

	undeclared := create(t, namespace, "undeclared", v1alpha1.ManualScheduleSpec{Reason: "other"})
	awaitNotReady(t, undeclared, sdk.ReasonEvaluationFailed)
	if message := readyOf(undeclared).Message; !strings.Contains(message, "WithReads") {
		t.Errorf("it says %q", message)
	}
	account := devplanetest.ClientFor(t, config)
	for what, err := range map[string]error{
		"list Secrets":        account.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace)),
		"read another Secret": account.Get(t.Context(), keyOf(other), other),
		"read a ConfigMap":    account.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(namespace)),
		"change the Secret":   account.Patch(t.Context(), secret, client.RawPatch("application/merge-patch+json", []byte(`{}`))),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("the rules allow to %s: %v", what, err)
		}
	}
}

func readyOf(s *v1alpha1.ManualSchedule) metav1.Condition {
	if ready := meta.FindStatusCondition(s.Status.Conditions, contract.ConditionReady); ready != nil {
		return *ready
	}
	return metav1.Condition{}
}

func TestTheValueOfASecretShowsNowhere(t *testing.T) {
	const token = "hunter22-of-this-test"
	namespace := devplanetest.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "feed"}, StringData: map[string]string{"token": token}}
	if err := devplanetest.Client(t).Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	provider := sdk.New(manualKind, func(ctx context.Context, s *v1alpha1.ManualSchedule, _ time.Time) (sdk.Decision, error) {
		if s.Namespace != namespace {
			return sdk.Decision{}, nil
		}
		secret, err := sdk.Secrets.Get(ctx, "feed")
		if err != nil {
			return sdk.Decision{}, err
		}
		text := "token " + string(secret.Data["token"])
		meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
			Type: "Fed", Status: metav1.ConditionTrue, Reason: "Fed", Message: text,
		})
		switch s.Spec.Reason {
		case "panics":
			panic(text)
		case "asks":
			_, err := sdk.Ask(ctx, sdk.Question[bool]{Server: "feed", Ask: func(context.Context) (bool, error) {
				return false, errors.New(text)
			}})
			return sdk.Decision{}, err
		}
		return sdk.Decision{Reason: text, Message: text}, sdk.NotReady(text, errors.New(text))
	}, sdk.WithReads(sdk.Secrets))
	program := start(t, sdk.Settings{RESTConfig: accountWith(t, provider.Rules())}, provider)
	for _, how := range []string{"fails", "panics", "asks"} {
		s := create(t, namespace, how, v1alpha1.ManualScheduleSpec{Reason: how})
		devplanetest.Await(t, s, func() error {
			if readyOf(s).Status != metav1.ConditionFalse {
				return fmt.Errorf("status %+v", s.Status)
			}
			return nil
		})
		if text := fmt.Sprintf("%+v", s.Status); strings.Contains(text, token) {
			t.Errorf("%s: the status is %s", how, text)
		}
	}
	program.stop()
	if program.log.count(token) > 0 {
		t.Error("the log quotes it")
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprint(families), token) {
		t.Error("the metrics quote it")
	}
}

// tideTableCRD defines a kind of an author's own.
const tideTableCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tidetables.tides.example.com}
spec:
  group: tides.example.com
  scope: Namespaced
  names: {kind: TideTable, listKind: TideTableList, plural: tidetables, singular: tidetable}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func TestAKindOfTheAuthorsOwnIsWaitedForAndFollowed(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	type table struct {
		Spec struct {
			High bool `json:"high"`
		} `json:"spec"`
	}
	tables := sdk.ObjectsOf[table](schema.GroupVersionResource{Group: "tides.example.com", Version: "v1", Resource: "tidetables"})
	provider := sdk.New(manualKind, func(ctx context.Context, s *v1alpha1.ManualSchedule, _ time.Time) (sdk.Decision, error) {
		if s.Namespace != namespace {
			return sdk.Decision{}, nil
		}
		tide, err := tables.Get(ctx, "tide")
		if err != nil {
			return sdk.Decision{}, err
		}
		return sdk.Decision{Active: tide.Spec.High}, nil
	}, sdk.WithReads(tables))
	start(t, sdk.Settings{RESTConfig: accountWith(t, provider.Rules())}, provider)
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{})
	awaitNotReady(t, s, sdk.ReasonObjectUnreadable)

	devplanetest.Apply(t, []byte(tideTableCRD))
	awaitNotReady(t, s, sdk.ReasonObjectNotFound)
	kind := schema.GroupVersionKind{Group: "tides.example.com", Version: "v1", Kind: "TideTable"}
	tide := makeObject(t, kind, namespace, "tide", map[string]any{"high": true})
	awaitVerdict(t, s, true)
	patch(t, tide, `{"spec":{"high":false}}`)
	awaitVerdict(t, s, false)
	patch(t, tide, `{"spec":{"high":"very"}}`)
	awaitNotReady(t, s, sdk.ReasonObjectUnreadable)

	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	crd.SetName("tidetables.tides.example.com")
	if err := devplanetest.Client(t).Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	awaitNotReady(t, s, sdk.ReasonObjectUnreadable)
}

func TestWhatAnAuthorGetsFromAnObject(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	type answer struct {
		err  error
		copy *corev1.ConfigMap
	}
	answers := make(chan map[string]answer, 100)
	provider := sdk.New(manualKind, func(ctx context.Context, s *v1alpha1.ManualSchedule, _ time.Time) (sdk.Decision, error) {
		if s.Namespace != namespace {
			return sdk.Decision{}, nil
		}
		got := map[string]answer{}
		for _, name := range []string{"there", "gone", "", "no/name"} {
			object, err := sdk.ConfigMaps.Get(ctx, name)
			got[name] = answer{err, object}
			if object != nil {
				object.Data["lock"] = "mine to change"
			}
		}
		_, err := sdk.Secrets.Get(ctx, "there")
		got["undeclared"] = answer{err: err}
		answers <- got
		return sdk.Decision{}, nil
	}, sdk.WithReads(sdk.ConfigMaps))
	makeConfigMap(t, namespace, "there", "open")
	start(t, sdk.Settings{RESTConfig: accountWith(t, provider.Rules())}, provider)
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{})
	awaitVerdict(t, s, false)
	patch(t, s, `{"spec":{"reason":"once more"}}`)
	awaitVerdict(t, s, false)

	var last map[string]answer
	for len(answers) > 0 {
		last = <-answers
	}
	if there := last["there"]; there.err != nil || there.copy.Name != "there" {
		t.Errorf("the object that is there: %+v", there)
	}
	notReady, invalid := (*sdk.NotReadyError)(nil), (*sdk.InvalidSpecError)(nil)
	if err := last["gone"].err; !errors.As(err, &notReady) || notReady.Reason != sdk.ReasonObjectNotFound || !apierrors.IsNotFound(err) {
		t.Errorf("the one that is not: %v", err)
	}
	for _, name := range []string{"", "no/name"} {
		if err := last[name].err; !errors.As(err, &invalid) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	if err := last["undeclared"].err; err == nil || errors.As(err, &notReady) || errors.As(err, &invalid) {
		t.Errorf("the undeclared kind: %v", err)
	}
	stored := &corev1.ConfigMap{}
	if err := devplanetest.Client(t).Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "there"}, stored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"lock": "open"}, stored.Data); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutTheContextOfEvaluateThereIsNothingToRead(t *testing.T) {
	if _, err := sdk.ConfigMaps.Get(t.Context(), "tides"); err == nil || !strings.Contains(err.Error(), "context") {
		t.Errorf("Get: %v", err)
	}
	question := sdk.Question[bool]{Ask: func(context.Context) (bool, error) { return true, nil }}
	if _, err := sdk.Ask(t.Context(), question); err == nil || !strings.Contains(err.Error(), "context") {
		t.Errorf("Ask: %v", err)
	}
}
