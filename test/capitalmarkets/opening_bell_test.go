// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// TestManySchedulesAtOneOpening has many objects change at one instant. Each is
// written once; before and after there is silence.
func TestManySchedulesAtOneOpening(t *testing.T) {
	const objects = 200
	clock := start(t, "2026-06-15T13:00:00Z")
	namespace := devplanetest.Namespace(t)
	t.Cleanup(func() { // or the next test's provider writes them too
		err := devplanetest.Client(t).DeleteAllOf(context.WithoutCancel(t.Context()), &v1alpha1.CapitalMarketsSchedule{}, client.InNamespace(namespace))
		if err != nil {
			t.Error(err)
		}
	})
	for i := range objects {
		s := object(t, namespace, fmt.Sprintf("market-%03d", i), `{exchange: XNYS}`)
		if err := devplanetest.Client(t).Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	audit := devplane.OpenAuditLog(devplanetest.Plane(t).AuditLog())
	t.Cleanup(func() { _ = audit.Close() })
	awaitAll(t, namespace, objects, false)
	if got := awaitWrites(t, audit, namespace, objects); got != objects {
		t.Errorf("%d writes before the opening, want %d", got, objects)
	}
	clock.SetTime(instant(t, "2026-06-15T13:29:59Z"))
	if got := awaitWrites(t, audit, namespace, 0); got != 0 {
		t.Errorf("%d writes between two boundaries, want none", got)
	}
	clock.SetTime(instant(t, "2026-06-15T13:30:00Z"))
	awaitAll(t, namespace, objects, true)
	if got := awaitWrites(t, audit, namespace, objects); got != objects {
		t.Errorf("%d writes at the opening, want %d", got, objects)
	}
}

// awaitAll watches a namespace until so many objects have the verdict.
func awaitAll(t *testing.T, namespace string, objects int, active bool) {
	t.Helper()
	w, err := devplanetest.Client(t).Watch(devplanetest.Context(t), &v1alpha1.CapitalMarketsScheduleList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	done := map[string]bool{}
	for event := range w.ResultChan() {
		if s, ok := event.Object.(*v1alpha1.CapitalMarketsSchedule); ok {
			done[s.Name] = s.Status.Active != nil && *s.Status.Active == active
		}
		left := objects
		for _, is := range done {
			if is {
				left--
			}
		}
		if left == 0 {
			return
		}
	}
	t.Fatalf("the watch ended; of %d objects %v", objects, done)
}

// awaitWrites counts the writes of statuses in a namespace since the last call, once
// there are so many: a line of the audit log can come a moment after the watch has
// told of what was written.
func awaitWrites(t *testing.T, audit *devplane.AuditReader, namespace string, n int) int {
	t.Helper()
	isWrite := func(e devplane.AuditEvent) bool {
		return e.Stage == devplane.StageResponseComplete && e.Namespace == namespace && e.Subresource == "status" && e.Verb != "get"
	}
	var events []devplane.AuditEvent
	if n > 0 {
		seen := 0
		var err error
		events, err = audit.Await(devplanetest.Context(t), func(e devplane.AuditEvent) bool {
			if isWrite(e) {
				seen++
			}
			return seen == n
		})
		if err != nil {
			t.Fatalf("%d writes, want %d: %v", seen, n, err)
		}
	}
	more, err := devplanetest.Plane(t).AuditUntilNow(devplanetest.Context(t), audit)
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	for _, e := range append(events, more...) {
		if isWrite(e) {
			writes++
		}
	}
	return writes
}
