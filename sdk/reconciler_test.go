// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/contract"
)

var harbour = types.NamespacedName{Namespace: "trading", Name: "harbour"}

// bench is a reconciler on a fake API server and a fake clock, with a record of
// the patches that it sent.
type bench struct {
	*reconciler
	t       *testing.T
	server  client.WithWatch
	clock   *clocktesting.FakeClock
	patches []string
	// refuse, if set, is what the API server answers to a patch.
	refuse error
	decide func(s *tide, now time.Time) (Decision, error)
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: clocktesting.NewFakeClock(noon)}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(tideKind, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(tideKind.GroupVersion().WithKind("TideList"), &unstructured.UnstructuredList{})
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(tideKind)
	b.server = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(object).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: b.patch}).Build()
	registry := prometheus.NewRegistry()
	measures, err := newMeasures(registry, tideKind.Kind, "tide")
	if err != nil {
		t.Fatalf("registering the metrics: %v", err)
	}
	provider := New(tideKind, func(_ context.Context, s *tide, now time.Time) (Decision, error) {
		return b.decide(s, now)
	}, WithClock(b.clock))
	in := newInputs(t.Context(), inputsConfig{options: provider.options, measures: measures})
	b.reconciler = newReconciler(provider, b.server, b.server, in, measures)
	b.decide = func(s *tide, _ time.Time) (Decision, error) {
		return Decision{Active: s.Spec.High, Message: "as the spec says"}, nil
	}
	return b
}

func (b *bench) patch(
	ctx context.Context, c client.Client, subresource string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	b.patches = append(b.patches, fmt.Sprintf("%s /%s %s", patch.Type(), subresource, data))
	if b.refuse != nil {
		return b.refuse
	}
	return c.SubResource(subresource).Patch(ctx, object, patch, opts...)
}

// setStatus changes a field of the status as somebody else would.
func (b *bench) setStatus(field string, value any) {
	b.t.Helper()
	object := b.get()
	if err := unstructured.SetNestedField(object.Object, value, "status", field); err != nil {
		b.t.Fatal(err)
	}
	if err := b.server.Status().Update(b.t.Context(), object); err != nil {
		b.t.Fatalf("changing the status: %v", err)
	}
}

// apply creates the object, or replaces all but its status.
func (b *bench) apply(text string) {
	b.t.Helper()
	object := &unstructured.Unstructured{Object: parse(b.t, text)}
	object.SetGroupVersionKind(tideKind)
	object.SetNamespace(harbour.Namespace)
	object.SetName(harbour.Name)
	before := b.get()
	if before == nil {
		object.SetGeneration(1)
		if err := b.server.Create(b.t.Context(), object); err != nil {
			b.t.Fatalf("creating the object: %v", err)
		}
		return
	}
	object.SetResourceVersion(before.GetResourceVersion())
	object.SetGeneration(before.GetGeneration() + 1)
	if err := b.server.Update(b.t.Context(), object); err != nil {
		b.t.Fatalf("editing the object: %v", err)
	}
}

func (b *bench) get() *unstructured.Unstructured {
	b.t.Helper()
	object, err := b.read(b.t.Context(), harbour)
	if err != nil {
		b.t.Fatal(err)
	}
	return object
}

func (b *bench) reconcile() reconcile.Result {
	b.t.Helper()
	result, err := b.Reconcile(b.t.Context(), reconcile.Request{NamespacedName: harbour})
	if err != nil {
		b.t.Fatalf("reconciling: %v", err)
	}
	return result
}

// staleReader is a cache that the watch has yet to bring the last write.
type staleReader struct{ object *unstructured.Unstructured }

func (r staleReader) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	r.object.DeepCopyInto(into.(*unstructured.Unstructured))
	return nil
}

func (staleReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("nobody is to list")
}

func TestAnObjectThatIsOlderThanOurLastWriteIsLeftForAWhile(t *testing.T) {
	b := newBench(t)
	evaluations := 0
	b.decide = func(*tide, time.Time) (Decision, error) {
		evaluations++
		return Decision{Active: true}, nil
	}
	b.apply(`{spec: {high: true}}`)
	cache := b.reader
	b.reader = staleReader{b.get()}
	b.reconcile()
	var pauses []time.Duration
	for range behindTries {
		pauses = append(pauses, b.reconcile().RequeueAfter)
	}
	if evaluations != 1 || len(b.patches) != 1 {
		t.Errorf("it was evaluated %d times and written %d times, want once", evaluations, len(b.patches))
	}
	if got := fmt.Sprint(pauses); got != "[50ms 100ms 200ms 400ms 800ms 1.6s]" {
		t.Errorf("it is looked at again after %s", got)
	}
	b.reconcile() // the watch does not bring it
	if evaluations != 2 || len(b.patches) != 2 {
		t.Errorf("in the end it was evaluated %d times and written %d times, want twice", evaluations, len(b.patches))
	}
	b.reader = cache
	if pause := b.reconcile().RequeueAfter; pause > 0 || evaluations != 3 || len(b.patches) != 2 {
		t.Errorf("as the watch brings it, it is looked at after %v, evaluated %d times and written %d times", pause, evaluations, len(b.patches))
	}
}

// TestTheStoryOfASchedule shows every request to the API server, and every wake-up
// arranged for, from the creation of an object to its deletion.
func TestTheStoryOfASchedule(t *testing.T) {
	b := newBench(t)
	b.decide = func(s *tide, now time.Time) (Decision, error) {
		switch {
		case s.Labels["gauge"] == "broken":
			return Decision{}, NotReady("GaugeUnreachable", errors.New("the gauge does not answer"))
		case s.Labels["depth"] == "9km":
			return Decision{}, InvalidSpec(errors.New("spec.high: no harbour is that deep"))
		case now.Before(fivePM):
			return Decision{Active: s.Spec.High, Until: fivePM, Reason: "Flood", Message: "until 17:00"}, nil
		}
		return Decision{Active: !s.Spec.High, Reason: "Ebb", Message: "for good"}, nil
	}
	story := &story{bench: b}
	story.step("nothing is there")
	b.apply(`{spec: {high: true}}`)
	story.step("created")
	story.step("looked at again")
	b.clock.SetTime(fivePM)
	story.step("the instant of its next change")
	story.step("looked at again")
	b.setStatus("conditions", append(rawStatus(b.get())["conditions"].([]any), parse(t, `{type: Audited, status: "True", by: ann}`)))
	b.setStatus("audit", "2026")
	story.step("somebody adds to the status")
	b.setStatus("active", true)
	story.step("somebody turns the verdict over")
	b.apply(`{metadata: {labels: {depth: 9km}}, spec: {high: true}}`)
	story.step("edited, and invalid")
	b.clock.Step(time.Minute)
	story.step("looked at again")
	b.apply(`{metadata: {labels: {gauge: broken}}, spec: {high: false}}`)
	story.step("edited, and the gauge is broken")
	b.clock.Step(time.Second)
	story.step("tried again")
	b.clock.Step(2 * time.Second)
	story.step("tried again")
	b.apply(`{spec: {high: false}}`)
	story.step("edited, and in order")
	if err := b.server.Delete(t.Context(), b.get()); err != nil {
		t.Fatalf("deleting the object: %v", err)
	}
	story.step("deleted")
	golden(t, "testdata/story.golden", story.text.String())
}

// story tells what each reconcile did.
type story struct {
	*bench
	text strings.Builder
}

func (s *story) step(title string) {
	s.t.Helper()
	result := s.reconcile()
	fmt.Fprintf(&s.text, "%s %s\n", s.clock.Now().Format(time.TimeOnly), title)
	for _, patch := range s.patches {
		fmt.Fprintf(&s.text, "    %s\n", patch)
	}
	if at, ok := s.alarms.At(harbour); ok {
		fmt.Fprintf(&s.text, "    wakes at %s\n", at.Format(time.TimeOnly))
	}
	if result.RequeueAfter > 0 {
		fmt.Fprintf(&s.text, "    tries again in %s\n", result.RequeueAfter)
	}
	s.patches = nil
}

// golden compares a text with a file; UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (UPDATE_GOLDEN=1 writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestPausesAfterFailuresDoubleUpToABoundAndAnEditStartsThemAnew(t *testing.T) {
	b := newBench(t)
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{}, errors.New("no answer") }
	b.apply(`{spec: {high: true}}`)
	var got []string
	for range 9 {
		got = append(got, b.reconcile().RequeueAfter.String())
	}
	want := []string{"1s", "2s", "4s", "8s", "16s", "32s", "1m0s", "1m0s", "1m0s"}
	// The first evaluation counts as one after an edit: nothing was observed before it.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	object := b.get()
	object.SetGeneration(2)
	if err := b.server.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if pause := b.reconcile().RequeueAfter; pause != time.Second {
		t.Errorf("pause after an edit %s, want 1s", pause)
	}
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{}, nil }
	if pause := b.reconcile().RequeueAfter; pause != 0 {
		t.Errorf("pause after a verdict %s, want none", pause)
	}
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{}, errors.New("no answer") }
	if pause := b.reconcile().RequeueAfter; pause != time.Second {
		t.Errorf("pause after a verdict and a failure %s, want 1s", pause)
	}
}

func TestWhatBecomesOfAStatusThatCannotBeWritten(t *testing.T) {
	resource := schema.GroupResource{Group: contract.Group, Resource: "tides"}
	tests := []struct {
		name      string
		answer    error
		wantPause bool
		wantError string
	}{
		{"the object changed meanwhile", apierrors.NewConflict(resource, "harbour", errors.New("changed")), true, ""},
		{"the object was deleted meanwhile", apierrors.NewNotFound(resource, "harbour"), false, ""},
		{
			"the CRD has no status subresource",
			apierrors.NewGenericServerResponse(http.StatusNotFound, "PATCH", resource, "harbour", "404 page not found", 0, true),
			false, "does the CRD of Tide enable the status subresource?",
		},
		{"no right to write it", apierrors.NewForbidden(resource, "harbour", errors.New("no")), false, "patching the status"},
		{"the API server is away", errors.New("connection refused"), false, "connection refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.decide = func(*tide, time.Time) (Decision, error) { return Decision{Active: true, Until: fivePM}, nil }
			b.apply(`{spec: {high: true}}`)
			b.refuse = test.answer
			result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: harbour})
			if (result.RequeueAfter > 0) != test.wantPause {
				t.Errorf("result %+v, want a pause: %t", result, test.wantPause)
			}
			if (err != nil) != (test.wantError != "") || (err != nil && !strings.Contains(err.Error(), test.wantError)) {
				t.Errorf("error %v, want one with %q", err, test.wantError)
			}
			if _, ok := b.alarms.At(harbour); !ok {
				t.Error("the wake-up at the next change was lost")
			}
			b.refuse, b.patches = nil, nil
			b.reconcile()
			if len(b.patches) != 1 {
				t.Errorf("the next reconcile sent %d patches, want 1", len(b.patches))
			}
		})
	}
}

func TestAWriteThatFailsAfterAGoodOneIsTriedAgain(t *testing.T) {
	b := newBench(t)
	b.apply(`{spec: {high: true}}`)
	b.reconcile()
	b.apply(`{spec: {high: false}}`)
	b.refuse = errors.New("connection refused")
	for range 2 {
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: harbour}); err == nil {
			t.Error("the failure was not reported, so nobody tries again")
		}
	}
	b.refuse = nil
	b.reconcile()
	if active := rawStatus(b.get())["active"]; active != false {
		t.Errorf("active is %v after the API server is back", active)
	}
}

func TestADeletedObjectWakesNobody(t *testing.T) {
	b := newBench(t)
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{Until: fivePM}, nil }
	b.apply(`{spec: {high: true}}`)
	b.reconcile()
	if err := b.server.Delete(t.Context(), b.get()); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	if at, ok := b.alarms.At(harbour); ok {
		t.Errorf("it is still to wake at %v", at)
	}
}

func TestAStatusOfWhichTheServerKeepsAPartIsWrittenOnce(t *testing.T) {
	b := newBench(t)
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{Active: true, Until: fivePM}, nil }
	b.apply(`{spec: {high: true}}`)
	b.reconcile()
	pruned := b.get()
	unstructured.RemoveNestedField(pruned.Object, "status", "nextTransitionTime")
	if err := b.server.Status().Update(t.Context(), pruned); err != nil {
		t.Fatal(err)
	}
	b.patches = nil
	b.reconcile()
	if len(b.patches) != 1 {
		t.Fatalf("a status that somebody changed was not put right: %v", b.patches)
	}
	// From here the server answers as one whose schema lacks the field.
	b.written.sending(pruned, nextStatus(rawStatus(pruned), 1, outcome{decided: true, active: true, until: fivePM}, noon))
	b.written.stored(pruned)
	again := b.get()
	again.Object["status"] = pruned.Object["status"]
	if err := b.server.Status().Update(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	b.patches = nil
	b.clock.Step(time.Hour)
	b.reconcile()
	if len(b.patches) > 0 {
		t.Errorf("written again: %v", b.patches)
	}
}

func TestAStopWhileEvaluateRunsWritesNothing(t *testing.T) {
	b := newBench(t)
	b.apply(`{spec: {high: true}}`)
	ctx, cancel := context.WithCancel(t.Context())
	b.decide = func(*tide, time.Time) (Decision, error) {
		cancel()
		return Decision{}, ctx.Err()
	}
	if _, err := b.Reconcile(ctx, reconcile.Request{NamespacedName: harbour}); err != nil {
		t.Errorf("a stop is reported as an error: %v", err)
	}
	if len(b.patches) > 0 {
		t.Errorf("patches: %v", b.patches)
	}
}

func TestTheClockIsReadOncePerReconcileInUTCWithoutAMonotonicReading(t *testing.T) {
	b := newBench(t)
	clock := &countingClock{FakeClock: clocktesting.NewFakeClock(noon.In(time.FixedZone("Tide", 3600)))}
	b.reconciler.clock = clock
	b.apply(`{spec: {high: true}}`)
	var seen time.Time
	b.decide = func(_ *tide, now time.Time) (Decision, error) {
		seen = now
		return Decision{}, nil
	}
	b.reconcile()
	if clock.reads != 1 {
		t.Errorf("the clock was read %d times", clock.reads)
	}
	if seen != noon {
		t.Errorf("Evaluate got %v, want %v", seen, noon)
	}
}

type countingClock struct {
	*clocktesting.FakeClock
	reads int
}

func (c *countingClock) Now() time.Time {
	c.reads++
	return c.FakeClock.Now()
}
