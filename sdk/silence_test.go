// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

// createMany makes objects of the given names prefix-0, prefix-1 and so on.
func createMany(t *testing.T, namespace, prefix string, n int, spec v1alpha1.ManualScheduleSpec) {
	t.Helper()
	c := devplanetest.Client(t)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(20)
	for i := range n {
		group.Go(func() error {
			return c.Create(ctx, &v1alpha1.ManualSchedule{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", prefix, i)},
				Spec:       spec,
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("creating %d schedules: %v", n, err)
	}
}

// awaitAll returns when all objects prefix-0, prefix-1 and so on of the
// namespace have the verdict.
func awaitAll(t *testing.T, namespace, prefix string, n int, active bool) {
	t.Helper()
	ctx, c := devplanetest.Context(t), devplanetest.Client(t)
	done := map[string]bool{}
	see := func(s *v1alpha1.ManualSchedule) {
		done[s.Name] = strings.HasPrefix(s.Name, prefix) && verdictIs(s, s.Generation, active) == nil
	}
	// A watch may end at any time; the next one begins where things stand.
	for countTrue(done) < n {
		list := &v1alpha1.ManualScheduleList{}
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			t.Fatalf("%d of %d schedules came to active: %t: %v", countTrue(done), n, active, err)
		}
		for i := range list.Items {
			see(&list.Items[i])
		}
		changes, err := c.Watch(ctx, list, client.InNamespace(namespace),
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
		if err != nil {
			t.Fatal(err)
		}
		for countTrue(done) < n {
			change, ok := <-changes.ResultChan()
			if !ok {
				break
			}
			if s, ok := change.Object.(*v1alpha1.ManualSchedule); ok {
				see(s)
			}
		}
		changes.Stop()
	}
}

func countTrue(set map[string]bool) int {
	n := 0
	for _, yes := range set {
		if yes {
			n++
		}
	}
	return n
}

func TestASettledProviderIsSilent(t *testing.T) {
	const n = 300
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	seen := watchRequests(t, t.Name())
	start(t, sdk.Settings{}, manual.Provider(sdk.WithClock(clock)))
	createMany(t, namespace, "desk", n, v1alpha1.ManualScheduleSpec{Enabled: true, Until: at(workday.Add(time.Hour))})
	awaitAll(t, namespace, "desk", n, true)
	settle(t, namespace)
	if got := len(patchesOf(seen.untilNow(), namespace, "desk-")); got != n {
		t.Errorf("%d objects were written %d times", n, got)
	}

	for range 10 {
		clock.Step(time.Minute)
	}
	touch(t, namespace) // events that change nothing
	settle(t, namespace)
	if got := seen.untilNow(); len(patchesOf(got, namespace, "desk-")) != 0 {
		t.Errorf("ten minutes without a boundary brought %d requests:\n%s", len(got), strings.Join(got, "\n"))
	}

	clock.SetTime(workday.Add(time.Hour))
	awaitAll(t, namespace, "desk", n, false)
	settle(t, namespace)
	if got := len(patchesOf(seen.untilNow(), namespace, "desk-")); got != n {
		t.Errorf("at the boundary %d objects were written %d times", n, got)
	}
}

// touch labels every schedule of the namespace, so that each is looked at.
func touch(t *testing.T, namespace string) {
	t.Helper()
	c := devplanetest.Client(t)
	list := &v1alpha1.ManualScheduleList{}
	if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(20)
	for i := range list.Items {
		group.Go(func() error {
			body := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))
			return c.Patch(ctx, &list.Items[i], body)
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("touching the schedules: %v", err)
	}
}

func TestNoSeriesNamesADeletedObject(t *testing.T) {
	const n = 1000
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	start(t, sdk.Settings{}, manual.Provider(sdk.WithClock(clock)))
	createMany(t, namespace, "desk", n, v1alpha1.ManualScheduleSpec{Enabled: true, Until: at(workday.Add(time.Hour))})
	awaitAll(t, namespace, "desk", n, true)
	clock.SetTime(workday.Add(time.Hour))
	awaitAll(t, namespace, "desk", n, false)
	awaitSeries(t, namespace, "desk-", 3*n)
	c := devplanetest.Client(t)
	if err := c.DeleteAllOf(t.Context(), &v1alpha1.ManualSchedule{}, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	awaitSeries(t, namespace, "desk-", 0)
}

// awaitSeries returns when so many series of /metrics have the namespace and a name that
// begins with prefix. A series is written, or taken away, after all else, which nothing
// tells of.
func awaitSeries(t *testing.T, namespace, prefix string, want int) {
	t.Helper()
	err := wait.PollUntilContextCancel(devplanetest.Context(t), 50*time.Millisecond, true,
		func(context.Context) (bool, error) { return seriesThatName(t, namespace, prefix) == want, nil })
	if err != nil {
		t.Errorf("%d series name the objects, want %d", seriesThatName(t, namespace, prefix), want)
	}
}

// seriesThatName counts the series of /metrics with the namespace and a name
// that begins with prefix.
func seriesThatName(t *testing.T, namespace, prefix string) int {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["namespace"] == namespace && strings.HasPrefix(labels["name"], prefix) {
				n++
			}
		}
	}
	return n
}
