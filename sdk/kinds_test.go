// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

// guideStatus is the status schema of step 1 of the guide: it knows no
// nextTransitionTime, and what it does not know is dropped.
const guideStatus = `
                active: {type: boolean}
                observedGeneration: {type: integer, format: int64}
                lastTransitionTime: {type: string}
                conditions:
                  type: array
                  items:
                    type: object
                    properties:
                      type: {type: string}
                      status: {type: string}
                      reason: {type: string}
                      message: {type: string}
                      lastTransitionTime: {type: string}`

// anyStatus lets everything through.
const anyStatus = ` {}
              x-kubernetes-preserve-unknown-fields: true`

// kindOf returns the CRD of a kind like ManualSchedule, of its own name and with
// its own status.
func kindOf(kind, status string) (schema.GroupVersionKind, []byte) {
	plural := strings.ToLower(kind) + "s"
	manifest := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.spotschedules.5spot.finos.org}
spec:
  group: spotschedules.5spot.finos.org
  scope: Namespaced
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]s, singular: %[3]s}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
            status:
              type: object
              properties:%[4]s
`, kind, plural, strings.ToLower(kind), status)
	return schema.GroupVersionKind{Group: contract.Group, Version: "v1", Kind: kind}, []byte(manifest)
}

// rights returns the manifest that lets the account run a provider of the kind.
func rights(kind string) []byte {
	plural := strings.ToLower(kind) + "s"
	return fmt.Appendf(nil, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules:
  - {apiGroups: [spotschedules.5spot.finos.org], resources: [%[1]s], verbs: [get, list, watch]}
  - {apiGroups: [spotschedules.5spot.finos.org], resources: [%[1]s/status], verbs: [get, update, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: ServiceAccount, name: %[2]s, namespace: %[3]s}]
`, plural, accountName, accountNamespace)
}

// toggle is a provider of a kind like ManualSchedule.
func toggle(kind schema.GroupVersionKind, options ...sdk.Option) *sdk.Provider {
	return sdk.New(kind, manual.Evaluate, options...)
}

// makeObject creates an object of a kind.
func makeObject(t *testing.T, kind schema.GroupVersionKind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	if err := devplanetest.Client(t).Create(t.Context(), object); err != nil {
		t.Fatalf("creating a %s: %v", kind.Kind, err)
	}
	return object
}

// awaitReads returns when readers of the contract come to the state.
func awaitReads(t *testing.T, object *unstructured.Unstructured, want contract.State) {
	t.Helper()
	generation := object.GetGeneration()
	devplanetest.Await(t, object, func() error {
		reading := contract.ReadObject(object)
		if reading.State != want || reading.ObservedGeneration == nil || *reading.ObservedGeneration < generation {
			return fmt.Errorf("it reads as %v: %s", reading.State, reading.Message)
		}
		return nil
	})
}

func TestAKindThatIsNotInstalledIsWaitedFor(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	kind, crd := kindOf("Latecomer", guideStatus)
	devplanetest.Apply(t, rights(kind.Kind))
	program := start(t, sdk.Settings{}, toggle(kind, sdk.WithKindCheck(10*time.Millisecond)), manual.Provider())
	program.log.await(t, "install its CRD")

	// Other kinds of the program are not held up.
	settle(t, namespace)

	devplanetest.Apply(t, crd)
	object := makeObject(t, kind, namespace, "desk", map[string]any{"enabled": true})
	awaitReads(t, object, contract.Active)
	if n := program.log.count("install its CRD"); n != 1 {
		t.Errorf("the log says %d times that the CRD is missing, want once", n)
	}
}

func TestAKindThatIsRemovedAndPutBackIsFollowedAgain(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	kind, crd := kindOf("Returner", guideStatus)
	devplanetest.Apply(t, rights(kind.Kind))
	devplanetest.Apply(t, crd)
	program := start(t, sdk.Settings{}, toggle(kind))
	object := makeObject(t, kind, namespace, "desk", map[string]any{"enabled": true})
	awaitReads(t, object, contract.Active)

	definition := &apiextensionsv1.CustomResourceDefinition{}
	definition.Name = "returners." + contract.Group
	if err := devplanetest.Client(t).Delete(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, definition)
	program.log.await(t, "does not serve the kind any more")

	devplanetest.Apply(t, crd)
	object = makeObject(t, kind, namespace, "desk", map[string]any{"enabled": false})
	awaitReads(t, object, contract.Inactive)
}

func TestRightsThatAreGrantedLaterAreWaitedFor(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	kind, crd := kindOf("Forbidden", guideStatus)
	devplanetest.Apply(t, crd)
	object := makeObject(t, kind, namespace, "desk", map[string]any{"enabled": true})
	program := start(t, sdk.Settings{}, toggle(kind), manual.Provider())
	program.log.await(t, "grant this account get, list and watch")

	// Other kinds of the program are not held up.
	settle(t, namespace)

	devplanetest.Apply(t, rights(kind.Kind))
	awaitReads(t, object, contract.Active)
}

func TestAKindThatIsNotNamespacedIsExplained(t *testing.T) {
	kind, crd := kindOf("Clusterwide", guideStatus)
	devplanetest.Apply(t, []byte(strings.Replace(string(crd), "scope: Namespaced", "scope: Cluster", 1)))
	program := start(t, sdk.Settings{}, toggle(kind))
	program.log.await(t, "is not namespaced")
}

func TestOneObjectThatDoesNotFitTheTypeHoldsUpNoOther(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	kind, crd := kindOf("Loose", anyStatus)
	devplanetest.Apply(t, rights(kind.Kind))
	devplanetest.Apply(t, crd)
	odd := makeObject(t, kind, namespace, "odd", map[string]any{"enabled": "very"})
	fine := makeObject(t, kind, namespace, "fine", map[string]any{"enabled": true})
	start(t, sdk.Settings{}, toggle(kind))
	awaitReads(t, fine, contract.Active)
	devplanetest.Await(t, odd, func() error {
		if reading := contract.ReadObject(odd); reading.ObservedGeneration == nil {
			return errors.New("it was not looked at")
		}
		return nil
	})
	ready, _, _ := unstructured.NestedSlice(odd.Object, "status", "conditions")
	text := fmt.Sprint(ready)
	if !strings.Contains(text, "InvalidSpec") || !strings.Contains(text, "spec.enabled") {
		t.Errorf("it does not say what is wrong: %s", text)
	}
}

func TestAStatusOfWhichTheSchemaDropsAPartIsWrittenOnce(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	kind, crd := kindOf("Pruned", guideStatus)
	devplanetest.Apply(t, rights(kind.Kind))
	devplanetest.Apply(t, crd)
	seen := watchRequests(t, t.Name())
	start(t, sdk.Settings{}, toggle(kind, sdk.WithClock(clock)))
	until := workday.Add(time.Hour).Format(time.RFC3339)
	object := makeObject(t, kind, namespace, "desk", map[string]any{"enabled": true, "until": until})
	awaitReads(t, object, contract.Active)
	if next := contract.ReadObject(object).NextTransition; !next.IsZero() {
		t.Fatalf("the schema was to drop nextTransitionTime, and it is %v", next)
	}
	for i := range 3 {
		patch(t, object, fmt.Sprintf(`{"metadata":{"labels":{"touched":"%d"}}}`, i))
		last := makeObject(t, kind, namespace, fmt.Sprintf("settle-%d", i), map[string]any{"enabled": true})
		awaitReads(t, last, contract.Active)
	}
	patches := 0
	for _, line := range seen.untilNow() {
		if strings.HasPrefix(line, "patch pruneds/status "+namespace+"/desk ") {
			patches++
		}
	}
	if patches != 1 {
		t.Errorf("it was written %d times, want once", patches)
	}
	clock.SetTime(workday.Add(time.Hour))
	awaitReads(t, object, contract.Inactive)
}

func TestWhatOthersWriteIntoTheStatusStays(t *testing.T) {
	const rounds = 40
	namespace := devplanetest.Namespace(t)
	kind, crd := kindOf("Shared", anyStatus)
	devplanetest.Apply(t, rights(kind.Kind))
	devplanetest.Apply(t, crd)
	start(t, sdk.Settings{}, toggle(kind))
	object := makeObject(t, kind, namespace, "desk", map[string]any{"enabled": false})
	awaitReads(t, object, contract.Inactive)

	// Somebody else counts in the status, as fast as it goes, while the toggle
	// is turned over again and again.
	counted := make(chan error, 1)
	other := object.DeepCopy()
	go func() {
		for i := range int64(rounds) {
			if err := countInStatus(t.Context(), devplanetest.Client(t), other, i); err != nil {
				counted <- err
				return
			}
		}
		counted <- nil
	}()
	for i := range rounds {
		patch(t, object, fmt.Sprintf(`{"spec":{"enabled":%t}}`, i%2 == 0))
	}
	if err := <-counted; err != nil {
		t.Fatal(err)
	}
	patch(t, object, `{"spec":{"enabled":true}}`)
	awaitReads(t, object, contract.Active)

	status := object.Object["status"].(map[string]any)
	if status["count"] != int64(rounds-1) {
		t.Errorf("the other's field is %v, want %d", status["count"], rounds-1)
	}
	var counters []any
	for _, condition := range status["conditions"].([]any) {
		if entry := condition.(map[string]any); entry["type"] == "Counted" {
			counters = append(counters, entry)
		}
	}
	want := []any{map[string]any{"type": "Counted", "status": "True", "count": int64(rounds - 1)}}
	if diff := cmp.Diff(want, counters); diff != "" {
		t.Errorf("the other's condition (-want +got):\n%s", diff)
	}
}

// countInStatus sets a field and a condition of the status that are not the
// provider's.
func countInStatus(ctx context.Context, c client.Client, object *unstructured.Unstructured, n int64) error {
	untilItIsWritten := wait.Backoff{Steps: math.MaxInt32}
	return retry.OnError(untilItIsWritten, apierrors.IsConflict, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		status := object.Object["status"].(map[string]any)
		status["count"] = n
		kept := []any{}
		for _, condition := range status["conditions"].([]any) {
			if condition.(map[string]any)["type"] != "Counted" {
				kept = append(kept, condition)
			}
		}
		status["conditions"] = append(kept, map[string]any{"type": "Counted", "status": "True", "count": n})
		return c.Status().Update(ctx, object)
	})
}

func TestSomebodyElsesVerdictIsPutRight(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	start(t, sdk.Settings{}, manual.Provider())
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true})
	awaitVerdict(t, s, true)
	body := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"active":false,"conditions":null}}`))
	if err := devplanetest.Client(t).Status().Patch(t.Context(), s, body); err != nil {
		t.Fatal(err)
	}
	awaitVerdict(t, s, true)
	if meta.FindStatusCondition(s.Status.Conditions, contract.ConditionReady) == nil {
		t.Error("Ready was not put back")
	}
}
