// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

func TestFiftySettledMachinesAreSilentForTwoMinutes(t *testing.T) {
	const watched = 2 * time.Minute
	toggle(t, localcluster.Namespace, "on", true)
	toggle(t, localcluster.Namespace, "off", false)
	var up, down []*v1beta1.ScheduledMachine
	for i := range 25 {
		up = append(up, machine(t, localcluster.Namespace, fmt.Sprintf("up-%d", i), "on"))
		down = append(down, machine(t, localcluster.Namespace, fmt.Sprintf("down-%d", i), "off"))
	}
	for i := range up {
		awaitPhase(t, up[i], v1beta1.PhaseActive)
		awaitPhase(t, down[i], v1beta1.PhaseInactive)
	}
	reader := audit(t)
	readAudit(t, reader) // what was under way when the last one settled

	// It waits for what must not come, so that it fails as soon as it comes.
	ctx, cancel := context.WithTimeout(t.Context(), watched)
	defer cancel()
	for ctx.Err() == nil {
		events, err := reader.Await(ctx, ours)
		for _, event := range events {
			if ours(event) && !allowedInSilence(event) {
				t.Errorf("%s asked %s %s", event.User, event.Verb, event.URI)
			}
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
}

// ours reports whether an event is the end of a request of one of our processes.
func ours(e devplane.AuditEvent) bool {
	return strings.HasPrefix(e.User, ourNamespace) && finished(e)
}

// allowedInSilence lets leases and the renewal of watches pass.
func allowedInSilence(e devplane.AuditEvent) bool {
	return e.Resource == "leases" || e.Verb == "watch"
}

func TestAnEditThatChangesNothingWritesNoStatus(t *testing.T) {
	toggle(t, localcluster.Namespace, "edited", true)
	sm := machine(t, localcluster.Namespace, "edited", "edited")
	awaitPhase(t, sm, v1beta1.PhaseActive)
	reader := audit(t)
	readAudit(t, reader)

	// Each round ends with an edit that does change something, whose status tells
	// that all before it was looked at.
	const rounds = 5
	for i := range rounds {
		patch(t, sm, fmt.Sprintf(`{"metadata":{"annotations":{"5spot.finos.org/force-reconcile":"%d"}}}`, i))
		patch(t, sm, `{"spec":{"priority":50}}`) // as it was
		patch(t, sm, fmt.Sprintf(`{"spec":{"gracefulShutdownTimeout":"%dm"}}`, 6+i))
		err := await.Object(deadline(t), localclustertest.Cluster(t).Client(), sm, func() error {
			if sm.Status.ObservedGeneration != sm.Generation {
				return errWaiting
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	writes := 0
	for _, event := range readAudit(t, reader) {
		if ours(event) && event.Verb != "watch" {
			writes++
		}
	}
	if writes != rounds {
		t.Errorf("%d requests, want the %d statuses that tell of a new generation", writes, rounds)
	}
}
