// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// watched is the time without edits, which is longer on a slow machine.
var watched = regexp.MustCompile(`( |objects for )[0-9.]+s( are too short|\n)`)

func TestAConformingProviderEndsWithStatus0(t *testing.T) {
	restart := startProvider(t)
	startReader(t, "")
	results := filepath.Join(t.TempDir(), "results.json")
	did := execute(t.Context(), t, append(everything(t), "--restart-command="+restart, "--results="+results)...)
	if did.status != 0 || did.error != "" {
		t.Errorf("exit status %d, %s", did.status, did.error)
	}
	golden(t, "passed.txt", watched.ReplaceAllString(did.out, "${1}TIME${2}"))

	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var report conformance.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if report.Format != conformance.Format || report.Outcome != conformance.Passed || len(report.Results) != len(conformance.Checks()) {
		t.Errorf("the results are of format %s, %s, and %d", report.Format, report.Outcome, len(report.Results))
	}
	if host := devplanetest.Plane(t).Config().Host; strings.Contains(string(text), strings.TrimPrefix(host, "https://")) {
		t.Errorf("the results name the API server, %s", host)
	}
}

func TestWhatIsNotGivenIsSkippedAndTheWholeIncomplete(t *testing.T) {
	did := execute(t.Context(), t, "--kind=ManualSchedule")
	if did.status != statusIncomplete || did.error != "" {
		t.Errorf("exit status %d, %s", did.status, did.error)
	}
	golden(t, "incomplete.txt", did.out)
	if did := execute(t.Context(), t, "--kind=ManualSchedule", "--allow-incomplete"); did.status != 0 {
		t.Errorf("where that is allowed, exit status %d", did.status)
	}
}

func TestAProviderThatDoesNotRunEndsWithStatus1(t *testing.T) {
	did := execute(t.Context(), t, "--kind=ManualSchedule", "--apply="+manifest(t, "{enabled: true}"), "--patience=1s", "--only=status-appears")
	if did.status != statusFailed {
		t.Errorf("exit status %d, %s", did.status, did.error)
	}
	golden(t, "failed.txt", did.out)
}

func TestRecommendedChecksFailTheWholeOnlyIfStrict(t *testing.T) {
	devplanetest.Apply(t, []byte(strings.NewReplacer("KIND", "Plain", "PLURAL", "plains").Replace(plainKind)))
	args := []string{"--kind=Plain", "--only=crd-printer-column", "--allow-incomplete", "--output=junit"}
	for strict, want := range map[string]int{"--strict=false": 0, "--strict=true": statusFailed} {
		if did := execute(t.Context(), t, append(args, strict)...); did.status != want {
			t.Errorf("%s: exit status %d, want %d\n%s", strict, did.status, want, did.out)
		}
	}
}

// plainKind has no printer column.
const plainKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.spotschedules.5spot.finos.org}
spec:
  group: spotschedules.5spot.finos.org
  scope: Namespaced
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: plain}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func TestFaultsOf5SpotAreFound(t *testing.T) {
	startProvider(t)
	for fault, want := range map[string]string{staysAsItWas: "fivespot-follows", doesNotHold: "fivespot-holds", "is absent": "fivespot-resolves"} {
		t.Run(fault, func(t *testing.T) {
			if fault != "is absent" {
				startReader(t, fault)
			}
			did := execute(t.Context(), t, append(everything(t), "--only=fivespot-follows,fivespot-holds", "--patience=3s", "--output=json")...)
			var report conformance.Report
			if err := json.Unmarshal([]byte(did.out), &report); err != nil {
				t.Fatalf("%v: %s", err, did.error)
			}
			var failed []string
			for _, result := range report.Failures() {
				failed = append(failed, result.ID)
			}
			if diff := cmp.Diff([]string{want}, failed); diff != "" || did.status != statusFailed {
				t.Errorf("exit status %d; failed checks (-want +got):\n%s", did.status, diff)
			}
		})
	}
}

func TestWrongCallsEndWithStatus2(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone.yaml")
	tests := map[string]struct {
		args []string
		want string
	}{
		"no kind":                  {nil, "--kind is missing"},
		"an argument":              {[]string{"ManualSchedule"}, "unknown command"},
		"an unknown flag":          {[]string{"--kind=A", "--fast"}, "unknown flag"},
		"an unknown check":         {[]string{"--kind=ManualSchedule", "--only=tides"}, `--only: there is no check "tides"`},
		"an unknown output":        {[]string{"--kind=ManualSchedule", "--output=yaml"}, "text, json or junit"},
		"a manifest that is gone":  {[]string{"--kind=ManualSchedule", "--apply=" + gone}, "--apply: open"},
		"a manifest of another":    {[]string{"--kind=Plain", "--apply-off=" + manifest(t, "{}")}, "--apply-off: the manifest holds no Plain"},
		"a manifest that is wrong": {[]string{"--kind=ManualSchedule", "--apply=" + manifest(t, "{enabled: 1}")}, "--apply: the API server refuses the manifest"},
		"half an account":          {[]string{"--kind=ManualSchedule", "--service-account=provider"}, "is not NAMESPACE/NAME"},
		"pods of no account":       {[]string{"--kind=ManualSchedule", "--pod-selector=app=a"}, "takes --service-account"},
		"a namespace that is not":  {[]string{"--kind=ManualSchedule", "--apply=" + manifest(t, "{enabled: true}"), "--namespace=nowhere"}, "--namespace: there is no namespace nowhere"},
		"a negative time":          {[]string{"--kind=ManualSchedule", "--idle-for=-1s"}, "--react-within, --idle-for and --patience: must not be negative"},
		"results in no directory":  {[]string{"--kind=ManualSchedule", "--results=" + filepath.Join(gone, "results.json")}, "--results: "},
		"two ways to restart":      {[]string{"--kind=ManualSchedule", "--pod-selector=app=a", "--restart-command=true"}, "exclude each other"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			did := execute(t.Context(), t, test.args...)
			if did.status != statusTrouble || !strings.Contains(did.error, test.want) {
				t.Errorf("exit status %d and %q, want %d and %q", did.status, did.error, statusTrouble, test.want)
			}
			if strings.Contains(did.out, "passed") {
				t.Errorf("it ran for that:\n%s", did.out)
			}
		})
	}
}

// It is no invalid spec that the API server keeps away.
func TestAFurtherObjectThatIsRefusedIsAMistake(t *testing.T) {
	startProvider(t)
	wrong := filepath.Join(t.TempDir(), "wrong.yaml")
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: needed}\ndata: {no/key: a}\n---\n" +
		"apiVersion: spotschedules.5spot.finos.org/v1alpha1\nkind: ManualSchedule\nspec: {enabled: true}\n"
	if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	did := execute(t.Context(), t, "--kind=ManualSchedule", "--apply="+manifest(t, "{enabled: true}"), "--apply-invalid="+wrong,
		"--only=undecided-no-verdict", "--allow-incomplete")
	const want = "--apply-invalid: the API server refuses ConfigMap needed of the manifest"
	if did.status != statusTrouble || !strings.Contains(did.error, want) {
		t.Errorf("exit status %d and %q, want %d and %q", did.status, did.error, statusTrouble, want)
	}
}

func TestAClusterThatDoesNotAnswerEndsWithStatus2(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n" +
		"contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--kubeconfig", kubeconfig}, {"--kubeconfig", kubeconfig, "--context", "y"}} {
		did := executeWith(t.Context(), t, append(args, "--kind=ManualSchedule")...)
		if did.status != statusTrouble || did.error == "" {
			t.Errorf("%v: exit status %d and %q", args, did.status, did.error)
		}
	}
}

func TestAnInterruptRemovesWhatWasMade(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	made := &corev1.NamespaceList{}
	earlier := &v1alpha1.ManualScheduleList{} // of other tests
	if err := devplanetest.Client(t).List(t.Context(), earlier); err != nil {
		t.Fatal(err)
	}
	watcher, err := devplanetest.Client(t).Watch(t.Context(), &v1alpha1.ManualScheduleList{},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: earlier.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	go func() {
		for event := range watcher.ResultChan() {
			if event.Type == watch.Added { // the first object is there
				interrupt()
			}
		}
	}()
	did := execute(ctx, t, append(everything(t), "--only=status-appears", "--patience=1h")...)
	if did.status != statusTrouble || !strings.Contains(did.error, "stopped before the end") {
		t.Errorf("exit status %d and %q", did.status, did.error)
	}
	if err := devplanetest.Client(t).List(t.Context(), made, client.HasLabels{"conformance.5spot.finos.org/run"}); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range made.Items {
		if namespace.DeletionTimestamp.IsZero() {
			t.Errorf("the namespace %s stays", namespace.Name)
		}
	}
}

// Among the objects that are made at once are some of which the answer is on its way
// when the interrupt comes.
func TestAnInterruptLeavesNothingInANamespaceThatExists(t *testing.T) {
	startProvider(t)
	namespace := devplanetest.Namespace(t)
	c := devplanetest.Client(t)
	ctx, interrupt := context.WithCancel(t.Context())
	watcher, err := c.Watch(t.Context(), &v1alpha1.ManualScheduleList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	go func() {
		for event := range watcher.ResultChan() {
			if event.Type == watch.Added && strings.Contains(event.Object.(*v1alpha1.ManualSchedule).Name, "-many-") {
				interrupt()
			}
		}
	}()
	did := execute(ctx, t, "--kind=ManualSchedule", "--namespace="+namespace, "--objects=200", "--only=many-objects",
		"--apply="+manifest(t, "{enabled: true}"), "--apply-off="+manifest(t, "{enabled: false}"))
	if did.status != statusTrouble || !strings.Contains(did.error, "stopped before the end") {
		t.Errorf("exit status %d and %q", did.status, did.error)
	}
	left := &v1alpha1.ManualScheduleList{}
	if err := c.List(t.Context(), left, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	if n := len(left.Items); n > 0 {
		t.Errorf("%d schedules stay", n)
	}
}

func TestANamespaceThatExistsIsLeftAsItWas(t *testing.T) {
	startProvider(t)
	namespace := devplanetest.Namespace(t)
	with := filepath.Join(t.TempDir(), "with.yaml")
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: needed}\n---\n" +
		"apiVersion: spotschedules.5spot.finos.org/v1alpha1\nkind: ManualSchedule\nspec: {enabled: true}\n"
	if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	did := execute(t.Context(), t, "--kind=ManualSchedule", "--namespace="+namespace, "--apply="+with,
		"--apply-off="+manifest(t, "{enabled: false}"), "--objects=20", "--output=json",
		"--only=many-objects,other-namespaces", "--allow-incomplete")
	if did.status != 0 {
		t.Fatalf("exit status %d: %s\n%s", did.status, did.error, did.out)
	}
	if !strings.Contains(did.out, "leave out --namespace") {
		t.Error("it does not say why another namespace was not looked at")
	}
	c := devplanetest.Client(t)
	schedules, configs := &v1alpha1.ManualScheduleList{}, &corev1.ConfigMapList{}
	for _, list := range []client.ObjectList{schedules, configs} {
		if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(schedules.Items); n > 0 {
		t.Errorf("%d schedules stay", n)
	}
	if slices.ContainsFunc(configs.Items, func(config corev1.ConfigMap) bool { return config.Name == "needed" }) {
		t.Error("the ConfigMap of the manifest stays")
	}
}

// Whoever may not delete gets the results, and is told what stays.
func TestWhatCannotBeRemovedIsNamed(t *testing.T) {
	kubeconfig := mayNotDelete(t)
	args := []string{
		"--kubeconfig=" + kubeconfig, "--kind=ManualSchedule", "--apply=" + manifest(t, "{enabled: true}"),
		"--patience=1s", "--only=status-appears",
	}
	const stays = "what was made for the checks is not all deleted: deleting the namespace conformance-"
	did := executeWith(t.Context(), t, args...)
	if did.status != statusTrouble || !strings.Contains(did.error, stays) {
		t.Errorf("exit status %d and %q, want %q", did.status, did.error, stays)
	}
	if !strings.Contains(did.out, "ManualSchedule (v1alpha1, Kubernetes v1.") {
		t.Errorf("the results have no summary:\n%s", did.out)
	}
}

// mayNotDelete returns a kubeconfig of somebody who may do everything else.
func mayNotDelete(t *testing.T) string {
	t.Helper()
	devplanetest.Apply(t, []byte(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: may-not-delete}
rules:
  - {apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch, create, update, patch]}
  - {nonResourceURLs: ["*"], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: may-not-delete}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: may-not-delete}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: careful}]
`))
	return kubeconfigAs(t, "careful")
}

// kubeconfigAs returns a kubeconfig of a user.
func kubeconfigAs(t *testing.T, name string, groups ...string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(devplanetest.Plane(t).Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate, user.ImpersonateGroups = name, groups
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Which machines may be made is the operator's business, and no provider's.
func TestAPolicyThatRefusesMachinesIsNoFaultOfTheProvider(t *testing.T) {
	startProvider(t)
	devplanetest.Apply(t, []byte(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-machines}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [5spot.finos.org], apiVersions: ["*"], operations: [CREATE], resources: [scheduledmachines]}]
  matchConditions: [{name: of-a-tenant, expression: request.userInfo.username == 'tenant'}]
  validations: [{expression: "false", message: no DevMachines here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-machines}
spec: {policyName: no-machines, validationActions: [Deny]}
`))
	awaitPolicy(t, devplanetest.Plane(t).ImpersonatedConfig("tenant", "system:masters"))
	did := executeWith(t.Context(), t, append(everything(t), "--kubeconfig="+kubeconfigAs(t, "tenant", "system:masters"),
		"--only=fivespot-holds", "--allow-incomplete")...)
	const why = "no DevMachines here"
	if did.status != 0 || strings.Contains(did.out, "FAIL") || !strings.Contains(strings.Join(strings.Fields(did.out), " "), why) {
		t.Errorf("exit status %d and %q, want a skip for %q:\n%s", did.status, did.error, why, did.out)
	}
}

// awaitPolicy returns when the API server goes by the policy, of which no event tells.
func awaitPolicy(t *testing.T, config *rest.Config) {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: devplanetest.Client(t).Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	machine := v1beta1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: devplanetest.Namespace(t), Name: "refused"},
		Spec: v1beta1.ScheduledMachineSpec{
			ClusterName:        "c",
			Schedule:           v1beta1.ScheduleReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ManualSchedule", Name: "s"},
			BootstrapSpec:      v1beta1.EmbeddedObject{APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig", Spec: runtime.RawExtension{Raw: []byte("{}")}},
			InfrastructureSpec: v1beta1.EmbeddedObject{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachine", Spec: runtime.RawExtension{Raw: []byte("{}")}},
		},
	}
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, devplanetest.Patience, true, func(ctx context.Context) (bool, error) {
		err := c.Create(ctx, machine.DeepCopy(), client.DryRunAll)
		return apierrors.IsInvalid(err), ignoreInvalid(err)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func ignoreInvalid(err error) error {
	if apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

func TestAnInterruptAfterWhichSomethingStays(t *testing.T) {
	stays := &conformance.LeftoverError{Err: errors.New("deleting the namespace conformance-x7k2p: no")}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, test := range map[string]struct {
		ctx  context.Context //nolint:containedctx // it is what the case is about
		err  error
		want string
	}{
		"nothing":            {stopped, context.Canceled, "stopped before the end; what was made for the checks is deleted"},
		"something":          {stopped, errors.Join(context.Canceled, stays), "stopped before the end\n" + stays.Error()},
		"after a wrong call": {t.Context(), errors.Join(&conformance.OptionError{Option: "On", Problem: "is refused"}, stays), "--apply: is refused\n" + stays.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			if got := explained(test.ctx, test.err); got.Error() != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestJUnitOutputIsXML(t *testing.T) {
	did := execute(t.Context(), t, "--kind=ManualSchedule", "--output=junit", "--allow-incomplete")
	decoder := xml.NewDecoder(strings.NewReader(did.out))
	cases := 0
	for {
		token, err := decoder.Token()
		if err == io.EOF { //nolint:errorlint // it is returned as it is
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, is := token.(xml.StartElement); is && start.Name.Local == "testcase" {
			cases++
		}
	}
	if want := len(conformance.Checks()); cases != want {
		t.Errorf("%d cases, want %d", cases, want)
	}
}

func TestTheChecksAreListed(t *testing.T) {
	did := executeWith(t.Context(), t, "--list")
	for _, check := range conformance.Checks() {
		if !strings.Contains(did.out, check.ID+" ") || !strings.Contains(did.out, check.Title+"\n") {
			t.Errorf("%s is not listed", check.ID)
		}
	}
}

func TestRestartingPods(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	c := devplanetest.Client(t)
	pods := map[string]types.UID{}
	for name, labels := range map[string]map[string]string{"a": {"app": "tides"}, "b": {"app": "tides"}, "other": {"app": "moons"}} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
			Spec: corev1.PodSpec{
				Containers:                   []corev1.Container{{Name: "c", Image: "none"}},
				AutomountServiceAccountToken: new(false),
			},
		}
		devplanetest.Await(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}, func() error { return nil })
		if err := c.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		pods[name] = pod.UID
	}
	config := devplanetest.Plane(t).Config()
	if err := conformance.RestartPods(config, namespace, "app=tides")(devplanetest.Context(t)); err != nil {
		t.Fatal(err)
	}
	left := &corev1.PodList{}
	if err := c.List(t.Context(), left, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	if len(left.Items) != 1 || left.Items[0].UID != pods["other"] {
		t.Errorf("%d pods are left, want the other one", len(left.Items))
	}
	for _, selector := range []string{"app=tides", "app=="} {
		if err := conformance.RestartPods(config, namespace, selector)(devplanetest.Context(t)); err == nil {
			t.Errorf("%s: no error", selector)
		}
	}
}
