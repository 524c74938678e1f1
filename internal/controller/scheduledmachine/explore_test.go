// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// TestWhatMustAlwaysHold walks at random through verdicts, switches, edits,
// faults, restarts, stale caches and whatever Cluster API, its workload cluster
// and other people may do, looks at every write that the controller makes on the
// way, and in the end lets everything come to rest: then the machine is where it
// is wanted, and nothing is written any more.
func TestWhatMustAlwaysHold(t *testing.T) {
	const rounds = 5 // of rapid's own number of walks, each of some thirty steps
	for range rounds {
		rapid.Check(t, walk)
	}
}

func walk(t *rapid.T) {
	sm := rack(func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.BootstrapSpec.Spec.Raw, sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{}`), []byte(`{}`)
		sm.Spec.GracefulShutdownTimeout, sm.Spec.NodeDrainTimeout, sm.Spec.ProvisioningTimeout = "2m", "1m", "30m"
		sm.Spec.Version = "v1.37.2" // since a control plane that is missing tells none
		sm.Spec.NodeTaints = drawTaints(t)
		sm.Spec.MinimumStateDuration = rapid.SampledFrom([]v1beta1.Timeout{"", "", "10m"}).Draw(t, "minimumStateDuration")
		sm.Spec.ActivationLead = rapid.SampledFrom([]v1beta1.Timeout{"", "", "15m"}).Draw(t, "activationLead")
	})
	w := newWorld(sm, t.Fatalf)
	w.machineVersion = rapid.SampledFrom([]string{capi.VersionV1Beta2, capi.VersionV1Beta1}).Draw(t, "Machine API")
	w.limit = rapid.IntRange(0, 1).Draw(t, "may come up at a time")
	if rapid.IntRange(0, 4).Draw(t, "is its own workload cluster") == 4 {
		w.far, w.secretGone = w.near, true
	}
	w.changeCluster(t)
	w.restart()
	if rapid.IntRange(0, 3).Draw(t, "the machine runs") > 0 {
		w.reading = reading(contract.Active)
		w.goOn(12)
	}
	t.Repeat(w.actions())
	w.repair(t)
	w.settle()
}

// actions are what may happen in the world.
func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"the controller looks":        w.look,
		"the controller looks again":  w.look,
		"the controller looks closer": w.look,
		"everything goes on":          func(*rapid.T) { w.goOn(2) },
		"everything goes further":     func(*rapid.T) { w.goOn(4) },
		"the caches":                  w.changeCaches,
		"the controller ends": func(t *rapid.T) {
			if rapid.Bool().Draw(t, "and another replica takes over") {
				w.takeOver()
			} else {
				w.restart()
			}
		},
		"the schedules":             w.changeSchedule,
		"the user":                  w.changeSpec,
		"the user changes his mind": w.changeMind,
		"Cluster API":               w.clusterAPI,
		"the Cluster":               w.changeCluster,
		"the workload cluster":      w.changeWorkload,
		"the node":                  w.changeNode,
		"the node again":            w.changeNode,
		"somebody else":             w.interfere,
		"another machine":           w.changeLine,
		"time passes": func(t *rapid.T) {
			longest := rapid.SampledFrom([]time.Duration{time.Minute, 20 * time.Minute}).Draw(t, "at most")
			w.clock.Step(time.Duration(rapid.Int64Range(1, int64(longest)).Draw(t, "by")))
		},
	}
}

// look has the controller look once, and may do something to one of its writes.
func (w *world) look(t *rapid.T) {
	f := fault{}
	if rapid.IntRange(0, 3).Draw(t, "fault") == 0 {
		f = fault{
			at:    rapid.IntRange(1, 4).Draw(t, "at write"),
			kind:  rapid.SampledFrom([]string{faultRefused, faultLost, faultCrashBefore, faultCrashAfter}).Draw(t, "kind"),
			stale: rapid.Bool().Draw(t, "who takes over is behind"),
		}
	}
	_, _ = w.reconcile(f) // an error is retried, which is the next look
	w.collect()
}

// goOn lets everything take its course for a few rounds.
func (w *world) goOn(rounds int) {
	for range rounds {
		w.deliver()
		_, _ = w.reconcile(fault{})
		w.collect()
		w.cooperate()
	}
}
