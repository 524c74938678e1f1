// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// TestEveryPhaseEdge walks from each phase to each phase that can follow it.
func TestEveryPhaseEdge(t *testing.T) {
	type scene struct {
		*desk
		sm      *v1beta1.ScheduledMachine
		machine *unstructured.Unstructured
	}
	set := func(spec string) func(*scene) {
		return func(s *scene) { s.patch(s.sm, "", `{"spec":{`+spec+`}}`) }
	}
	verdict := func(active bool) func(*scene) { return func(s *scene) { s.schedule(active) } }
	hold := func(s *scene) { s.holdMachine("rack") }
	letGo := func(s *scene) { s.letGo(s.machine) }
	run := func(s *scene) { s.machine = s.runMachine("rack") }
	kill, unkill := set(`"killSwitch":true`), set(`"killSwitch":null`)
	disable, enable := set(`"enabled":false`), set(`"enabled":true`)
	breakIt := set(`"infrastructureSpec":{"kind":"NobodysMachine"}`)
	repair := set(`"infrastructureSpec":{"kind":"DevMachine"}`)

	const (
		pending, active, going = v1beta1.PhasePending, v1beta1.PhaseActive, v1beta1.PhaseShuttingDown
		inactive, disabled     = v1beta1.PhaseInactive, v1beta1.PhaseDisabled
		terminated, failed     = v1beta1.PhaseTerminated, v1beta1.PhaseError
	)
	type move struct {
		do func(*scene)
		to v1beta1.Phase
	}
	up := []move{{verdict(true), pending}, {run, active}}
	for name, moves := range map[string][]move{
		"Pending to Active":                  up,
		"Pending to Inactive":                {{verdict(true), pending}, {verdict(false), inactive}},
		"Pending to Disabled":                {{verdict(true), pending}, {disable, disabled}},
		"Pending to Terminated":              {{verdict(true), pending}, {kill, terminated}},
		"Active to ShuttingDown to Inactive": append(up, move{hold, active}, move{verdict(false), going}, move{letGo, inactive}),
		"Active to ShuttingDown to Disabled": append(up, move{hold, active}, move{disable, going}, move{letGo, disabled}),
		"Active to ShuttingDown to Terminated": append(up, move{hold, active}, move{kill, going},
			move{letGo, terminated}),
		"Active to Error": append(up, move{func(s *scene) {
			s.patch(s.machine, "status", `{"status":{"phase":"Failed","deprecated":{"v1beta1":{"failureReason":"UpdateError","failureMessage":"it burns"}}}}`)
		}, failed}),
		"Active to Pending and back, as the node does": append(up, move{func(s *scene) {
			s.patch(s.machine, "status", `{"status":{"conditions":[{"type":"NodeReady","status":"False","reason":"NodeNotReady","message":"","lastTransitionTime":"2001-01-01T00:00:00Z"}]}}`)
		}, pending}, move{run, active}),
		"ShuttingDown to Pending: a new machine once the old one is gone": append(up, move{hold, active}, move{verdict(false), going},
			move{func(s *scene) { s.awaitDeleted("rack"); s.schedule(true) }, going}, move{func(s *scene) { letGo(s); s.awaitObject(machineKind, "rack") }, pending}),
		"ShuttingDown, disabled and then killed": append(up, move{hold, active}, move{disable, going}, move{kill, going}, move{letGo, terminated}),
		"ShuttingDown to Error: what ends a drain is refused": append(up, move{hold, active}, move{verdict(false), going},
			move{func(s *scene) {
				s.machine = s.awaitDeleted("rack")
				s.refuseWritesOfMachines(s.machine)
				s.clock.SetTime(s.machine.GetDeletionTimestamp().Add(time.Hour))
			}, failed}),
		"Inactive to Pending":             {{verdict(false), inactive}, {verdict(true), pending}},
		"Inactive to Disabled and back":   {{verdict(false), inactive}, {disable, disabled}, {enable, inactive}},
		"Inactive to Terminated and back": {{verdict(false), inactive}, {kill, terminated}, {unkill, inactive}},
		"Disabled to Pending":             {{verdict(true), pending}, {disable, disabled}, {enable, pending}},
		"Disabled to Terminated and back": {{disable, disabled}, {kill, terminated}, {unkill, disabled}},
		"Terminated to Pending":           {{verdict(true), pending}, {kill, terminated}, {unkill, pending}},
		"Terminated to Disabled":          {{kill, terminated}, {disable, terminated}, {unkill, disabled}},
		"Pending to Error to Pending":     {{breakIt, inactive}, {verdict(true), failed}, {repair, pending}},
		"Error to Inactive":               {{breakIt, inactive}, {verdict(true), failed}, {verdict(false), inactive}},
		"Error to Disabled":               {{breakIt, inactive}, {verdict(true), failed}, {disable, disabled}},
		"Error to Terminated":             {{breakIt, inactive}, {verdict(true), failed}, {kill, terminated}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scene{desk: newDesk(t)}
			s.schedule(false)
			s.sm = s.desk.machine("rack")
			s.awaitPhase(s.sm, inactive)
			for _, m := range moves {
				m.do(s)
				s.awaitPhase(s.sm, m.to)
			}
		})
	}
}
