// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fivespotv1 "github.com/fivespot/fivespot/api/v1beta1"
)

// story is the guide's.
func story(s *sample) []chapter {
	machine := s.machine.Name
	return []chapter{
		{
			title: fmt.Sprintf("ManualSchedule %s is off; ScheduledMachine %s follows it", s.schedule.Name, s.scheduled.Name),
			do: func(ctx context.Context, c client.Client) error {
				if err := s.apply(ctx, c); err != nil {
					return err
				}
				return s.toggle(ctx, c, false) // apply leaves a field that another manager has set
			},
			facts: []fact{
				{line: "its provider says status.active: false", holds: verdict(false)},
				{line: "the ScheduledMachine is Inactive and no Machine exists", holds: func(now *state) bool {
					return phase(fivespotv1.PhaseInactive)(now) && now.machine == nil
				}},
			},
		},
		{
			title: "the toggle goes on: spec.enabled: true",
			do:    func(ctx context.Context, c client.Client) error { return s.toggle(ctx, c, true) },
			facts: []fact{
				{line: "its provider says status.active: true", holds: verdict(true)},
				{line: "5-Spot has seen the verdict: SpotScheduleResolved is True, inSchedule is true", holds: verdictSeen},
				{line: s.bootstrap.GetKind() + " " + machine + " appears", holds: func(now *state) bool { return now.bootstrap != nil }},
				{line: s.infrastructure.GetKind() + " " + machine + " appears", holds: func(now *state) bool { return now.infrastructure != nil }},
				{line: "Machine " + machine + " appears", holds: func(now *state) bool { return now.machine != nil }},
				{line: "the Machine runs and its Node is ready", holds: nodeReady},
				{line: "the ScheduledMachine is Active", holds: phase(fivespotv1.PhaseActive)},
			},
		},
		{
			title: "the toggle goes off: spec.enabled: false",
			do:    func(ctx context.Context, c client.Client) error { return s.toggle(ctx, c, false) },
			facts: []fact{
				{line: "its provider says status.active: false", holds: verdict(false)},
				{line: "the Machine is being deleted", holds: deleting, passing: true},
				{line: "its Node is drained", holds: drained, passing: true},
				{line: "the Machine is gone", holds: func(now *state) bool { return now.machine == nil }},
				{line: s.bootstrap.GetKind() + " is gone", holds: func(now *state) bool { return now.bootstrap == nil }},
				{line: s.infrastructure.GetKind() + " is gone", holds: func(now *state) bool { return now.infrastructure == nil }},
				{line: "the ScheduledMachine is Inactive", holds: phase(fivespotv1.PhaseInactive)},
			},
		},
	}
}

// verdict holds when the provider has answered the present spec.
func verdict(active bool) func(*state) bool {
	return func(now *state) bool {
		schedule := now.schedule
		return schedule != nil && schedule.Spec.Enabled == active &&
			schedule.Status.Active != nil && *schedule.Status.Active == active &&
			schedule.Status.ObservedGeneration == schedule.Generation
	}
}

func verdictSeen(now *state) bool {
	return now.scheduled != nil && now.scheduled.Status.InSchedule &&
		meta.IsStatusConditionTrue(now.scheduled.Status.Conditions, fivespotv1.ConditionSpotScheduleResolved)
}

func phase(want fivespotv1.Phase) func(*state) bool {
	return func(now *state) bool { return now.scheduled != nil && now.scheduled.Status.Phase == want }
}

func nodeReady(now *state) bool {
	return now.machine != nil && now.machine.Status.NodeRef.IsDefined() &&
		meta.IsStatusConditionTrue(now.machine.Status.Conditions, clusterv1.MachineNodeReadyCondition)
}

func deleting(now *state) bool {
	return now.machine != nil && now.machine.DeletionTimestamp != nil
}

// drained reads the only condition that says so while the Machine goes on to
// its next step.
//
//nolint:staticcheck // deprecated, and without a successor
func drained(now *state) bool {
	if now.machine == nil || now.machine.Status.Deprecated == nil || now.machine.Status.Deprecated.V1Beta1 == nil {
		return false
	}
	return slices.ContainsFunc(now.machine.Status.Deprecated.V1Beta1.Conditions, func(condition clusterv1.Condition) bool {
		return condition.Type == clusterv1.DrainingSucceededV1Beta1Condition && condition.Status == "True"
	})
}

// describe says how things stand, for the line that says what went wrong.
func (now *state) describe() string {
	text := "the ScheduledMachine does not exist"
	if now.scheduled != nil {
		text = fmt.Sprintf("the ScheduledMachine is %s: %s", now.scheduled.Status.Phase, now.scheduled.Status.Message)
	}
	if now.machine != nil {
		text += "; the Machine is " + now.machine.Status.Phase
		if ready := meta.FindStatusCondition(now.machine.Status.Conditions, clusterv1.MachineReadyCondition); ready != nil {
			text += ": " + strings.Join(strings.Fields(ready.Message), " ")
		}
	}
	return text
}
