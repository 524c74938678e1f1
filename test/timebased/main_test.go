// SPDX-License-Identifier: Apache-2.0

// Package timebased runs the provider of TimeBasedSpotSchedule against a real
// API server, as the service account that deploy/ gives it and by a clock that
// the tests set.
package timebased

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/timebased"
	"github.com/fivespot/fivespot/sdk"
)

func TestMain(m *testing.M) {
	devplanetest.Main(m, devplanetest.CRDs,
		devplanetest.Deployed("controller/namespace.yaml", "spot-schedule-providers/time-based/rbac.yaml"))
}

// start runs the provider until the function it returns is called, or the end of
// the test.
func start(t *testing.T, clock *clocktesting.FakeClock) (stop func()) {
	t.Helper()
	config, err := devplanetest.Plane(t).ServiceAccountConfig(devplanetest.Context(t), "5spot-system", "time-based-schedule-provider")
	if err != nil {
		t.Fatal(err)
	}
	settings := sdk.Settings{RESTConfig: config, MetricsBindAddress: "0", HealthProbeBindAddress: "0", Logger: logr.Discard()}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- sdk.Run(ctx, settings, timebased.Provider(sdk.WithClock(clock))) }()
	stop = sync.OnceFunc(func() {
		patience, done := context.WithTimeout(context.WithoutCancel(t.Context()), devplanetest.Patience)
		defer done()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the provider ended with: %v", err)
			}
		case <-patience.Done():
			t.Error("the provider does not stop")
		}
	})
	t.Cleanup(stop)
	return stop
}

func clockAt(t *testing.T, text string) *clocktesting.FakeClock {
	t.Helper()
	return clocktesting.NewFakeClock(instant(t, text))
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// schedule returns an object with a spec in YAML.
func schedule(t *testing.T, namespace, name, spec string) *v1alpha1.TimeBasedSpotSchedule {
	t.Helper()
	s := &v1alpha1.TimeBasedSpotSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := yaml.UnmarshalStrict([]byte(spec), &s.Spec); err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, namespace, name, spec string) *v1alpha1.TimeBasedSpotSchedule {
	t.Helper()
	s := schedule(t, namespace, name, spec)
	if err := devplanetest.Client(t).Create(t.Context(), s); err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	return s
}

func createMany(t *testing.T, namespace, spec string, n int) {
	t.Helper()
	c := devplanetest.Client(t)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(20)
	for i := range n {
		s := schedule(t, namespace, fmt.Sprintf("many-%d", i), spec)
		group.Go(func() error { return c.Create(ctx, s) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("creating %d schedules: %v", n, err)
	}
}

func edit(t *testing.T, s *v1alpha1.TimeBasedSpotSchedule, patch string) {
	t.Helper()
	err := devplanetest.Client(t).Patch(t.Context(), s, client.RawPatch("application/merge-patch+json", []byte(patch)))
	if err != nil {
		t.Fatalf("editing %s: %v", s.Name, err)
	}
}

// await returns when the status reflects the spec and is as wanted.
func await(t *testing.T, s *v1alpha1.TimeBasedSpotSchedule, active bool, status metav1.ConditionStatus, reason string) {
	t.Helper()
	generation := s.Generation
	devplanetest.Await(t, s, func() error { return published(s, generation, active, status, reason) })
}

func published(s *v1alpha1.TimeBasedSpotSchedule, generation int64, active bool, status metav1.ConditionStatus, reason string) error {
	ready := meta.FindStatusCondition(s.Status.Conditions, contract.ConditionReady)
	switch {
	case s.Status.ObservedGeneration < generation:
		return fmt.Errorf("observedGeneration is %d, not yet %d", s.Status.ObservedGeneration, generation)
	case s.Status.Active == nil || *s.Status.Active != active:
		return fmt.Errorf("active is not %t: %+v", active, s.Status)
	case ready == nil || ready.Status != status || ready.Reason != reason:
		return fmt.Errorf("the Ready condition is not %s for %s: %+v", status, reason, ready)
	}
	return nil
}

func awaitOpen(t *testing.T, s *v1alpha1.TimeBasedSpotSchedule) {
	t.Helper()
	await(t, s, true, metav1.ConditionTrue, timebased.ReasonWindowOpen)
}

func awaitClosed(t *testing.T, s *v1alpha1.TimeBasedSpotSchedule) {
	t.Helper()
	await(t, s, false, metav1.ConditionTrue, timebased.ReasonWindowClosed)
}

// settle returns when the provider has done what earlier events asked of it: the
// watch is in order, so an object that is made now is seen last.
func settle(t *testing.T, namespace string) {
	t.Helper()
	last := &v1alpha1.TimeBasedSpotSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "settle-"}}
	if err := devplanetest.Client(t).Create(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	awaitClosed(t, last)
}

// writes counts the changes of each object of a namespace from now on, by name.
type writes struct {
	t         *testing.T
	namespace string
	watch     watch.Interface
}

func countWrites(t *testing.T, namespace string) *writes {
	t.Helper()
	c := devplanetest.Client(t)
	list := &v1alpha1.TimeBasedSpotScheduleList{}
	if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(t.Context(), &v1alpha1.TimeBasedSpotScheduleList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return &writes{t, namespace, w}
}

// untilNow returns the changes since the last call. It makes an object of its
// own and reads until that shows.
func (w *writes) untilNow() map[string]int {
	w.t.Helper()
	last := &v1alpha1.TimeBasedSpotSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, GenerateName: "last-"}}
	if err := devplanetest.Client(w.t).Create(w.t.Context(), last); err != nil {
		w.t.Fatal(err)
	}
	counts := map[string]int{}
	ctx := devplanetest.Context(w.t)
	for {
		event, err := next(ctx, w.watch)
		if err != nil {
			w.t.Fatal(err)
		}
		name := event.Object.(client.Object).GetName()
		if name == last.Name {
			return counts
		}
		if event.Type == watch.Modified {
			counts[name]++
		}
	}
}

func next(ctx context.Context, w watch.Interface) (watch.Event, error) {
	select {
	case event, open := <-w.ResultChan():
		switch {
		case !open:
			return event, io.ErrUnexpectedEOF
		case event.Type == watch.Error:
			return event, errors.New("the watch failed")
		}
		return event, nil
	case <-ctx.Done():
		return watch.Event{}, ctx.Err()
	}
}
