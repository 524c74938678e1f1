// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

const idResolves = "fivespot-resolves"

// fiveSpotChecks look at a ScheduledMachine that follows the provider. It is
// disabled, so that 5-Spot reads its schedule and makes no machine.
func fiveSpotChecks() []Check {
	checks := []Check{
		{
			ID: idResolves, Rule: "C16",
			Title:  "5-Spot resolves a ScheduledMachine that references the object",
			Advice: "See the condition SpotScheduleResolved of a ScheduledMachine in the namespace of the object, and that the 5-Spot controller runs.",
			needs:  []string{idActive},
			run:    fiveSpotResolves,
		},
		{
			ID: "fivespot-follows", Rule: "C16",
			Title:  "5-Spot follows the object, both ways",
			Advice: "See status.spotSchedule of the ScheduledMachine, and that the object's status says what its spec asks for.",
			needs:  []string{idResolves, idFollows}, uses: []given{givenOff},
			run: fiveSpotFollows,
		},
		{
			ID: "fivespot-holds", Rule: "C19",
			Title:  "5-Spot holds the last verdict while there is none",
			Advice: "Say by Ready that status.active is not to be trusted, and leave it as it is.",
			needs:  []string{idResolves, idInvalid},
			run:    fiveSpotHolds,
		},
	}
	for i := range checks {
		check := &checks[i]
		check.Group, check.Level = GroupFiveSpot, Required
		check.uses = append([]given{givenOn}, check.uses...)
		check.run = whereInstalled(check.run)
	}
	return checks
}

// withoutFiveSpot is for a cluster that has providers alone.
const withoutFiveSpot = "5-Spot is not installed in this cluster: `kubectl apply -k deploy/`, or run against `fivespot up`"

// whereInstalled runs a check where there is 5-Spot.
func whereInstalled(run func(context.Context, *env) (finding, error)) func(context.Context, *env) (finding, error) {
	return func(ctx context.Context, e *env) (finding, error) {
		if !e.hasFiveSpot() {
			return skip(withoutFiveSpot)
		}
		return run(ctx, e)
	}
}

// hasFiveSpot reports whether the kind ScheduledMachine is installed.
func (e *env) hasFiveSpot() bool {
	return e.definitionOf(v1beta1.GroupVersion.Group, "ScheduledMachine") != nil
}

// follower is a ScheduledMachine and the object that it follows.
type follower struct {
	*subject

	machine string
	seen    *recorder
}

// follow makes an active object and a ScheduledMachine that follows it. Stop is
// to be called in the end.
func (e *env) follow(ctx context.Context, part string) (f *follower, stop context.CancelFunc, err error) {
	made, err := e.createActive(ctx, part)
	if err != nil {
		return nil, nil, err
	}
	f = &follower{subject: made, machine: made.name, seen: newRecorder(e.clock)}
	recording, stop := context.WithCancel(ctx)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("ScheduledMachineList"))
	if err := f.seen.start(recording, e.client, list, made.space.namespace.Name); err != nil {
		stop()
		return nil, nil, err
	}
	if err := made.space.make(ctx, f.scheduledMachine()); err != nil {
		stop()
		if isRefused(err) {
			err = &refusedMachineError{err}
		}
		return nil, nil, fmt.Errorf("making a ScheduledMachine: %w", err)
	}
	return f, stop, nil
}

// refusedMachineError is the word of a policy on what machines there may be, which
// is no provider's matter.
type refusedMachineError struct{ error }

// scheduledMachine is disabled; what it would make need not exist.
func (f *follower) scheduledMachine() *v1beta1.ScheduledMachine {
	spec := runtime.RawExtension{Raw: []byte("{}")}
	kind := f.space.env.kind()
	return &v1beta1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.space.namespace.Name, Name: f.machine,
			Labels: map[string]string{runLabel: f.space.env.run},
		},
		Spec: v1beta1.ScheduledMachineSpec{
			Enabled:     new(false),
			ClusterName: "conformance",
			Schedule:    v1beta1.ScheduleReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: f.name},
			BootstrapSpec: v1beta1.EmbeddedObject{
				APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig", Spec: spec,
			},
			InfrastructureSpec: v1beta1.EmbeddedObject{
				APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachine", Spec: spec,
			},
		},
	}
}

// reports waits until the ScheduledMachine says this of its schedule: whether it
// is resolved, and which verdict counts.
func (f *follower) reports(ctx context.Context, resolved metav1.ConditionStatus, active bool) (reason string, err error) {
	err = f.space.env.until(ctx, f.seen, func() (missing error) {
		now := f.seen.last(f.machine)
		if now == nil {
			return errors.New("the ScheduledMachine has not been seen")
		}
		reason, missing = follows(now.Unstructured, resolved, active)
		return missing
	})
	return reason, err
}

// follows returns an error while the ScheduledMachine says something else.
func follows(object *unstructured.Unstructured, resolved metav1.ConditionStatus, active bool) (reason string, err error) {
	sm := &v1beta1.ScheduledMachine{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, sm); err != nil {
		return "", fmt.Errorf("the ScheduledMachine cannot be read: %w", err)
	}
	condition := meta.FindStatusCondition(sm.Status.Conditions, v1beta1.ConditionSpotScheduleResolved)
	switch {
	case condition == nil || sm.Status.SpotSchedule == nil:
		return "", errors.New("the ScheduledMachine says nothing of its schedule: does the 5-Spot controller run?")
	case condition.Status != resolved:
		return "", fmt.Errorf("SpotScheduleResolved is %s, not %s: %s: %s", condition.Status, resolved, condition.Reason, condition.Message)
	}
	verdict := sm.Status.SpotSchedule.Active
	if verdict == nil || *verdict != active || sm.Status.InSchedule != active {
		last := "absent"
		if verdict != nil {
			last = strconv.FormatBool(*verdict)
		}
		return "", fmt.Errorf("the verdict that counts is to be %t; status.inSchedule is %t, and status.spotSchedule.active is %s",
			active, sm.Status.InSchedule, last)
	}
	return condition.Reason, nil
}

func fiveSpotResolves(ctx context.Context, e *env) (finding, error) {
	f, stop, err := e.follow(ctx, "resolves")
	if err != nil {
		return finding{}, err
	}
	defer stop()
	if _, err := f.reports(ctx, metav1.ConditionTrue, true); err != nil {
		return finding{}, err
	}
	return pass("")
}

func fiveSpotFollows(ctx context.Context, e *env) (finding, error) {
	f, stop, err := e.follow(ctx, "machine-follows")
	if err != nil {
		return finding{}, err
	}
	defer stop()
	for _, on := range []bool{true, false, true} {
		if err := f.set(ctx, e.sampleFor(on)); err != nil {
			return finding{}, err
		}
		if _, err := f.reports(ctx, metav1.ConditionTrue, on); err != nil {
			return finding{}, err
		}
	}
	return pass("")
}

// fiveSpotHolds takes the verdict away: by the invalid sample where the API
// server lets it through, else by deleting the object.
func fiveSpotHolds(ctx context.Context, e *env) (finding, error) {
	f, stop, err := e.follow(ctx, "machine-holds")
	if err != nil {
		return finding{}, err
	}
	defer stop()
	if _, err := f.reports(ctx, metav1.ConditionTrue, true); err != nil {
		return finding{}, err
	}
	want, how := contract.ReasonProviderNotReady, "Ready is not True"
	if e.samples.invalid == nil {
		want, how = contract.ReasonProviderNotFound, "the object is deleted"
		err = f.remove(ctx)
	} else if err = f.set(ctx, e.samples.invalid); isRefused(err) {
		want, how = contract.ReasonProviderNotFound, "the object is deleted, as the API server refuses the invalid sample"
		err = f.remove(ctx)
	}
	if err != nil {
		return finding{}, err
	}
	reason, err := f.reports(ctx, metav1.ConditionFalse, true)
	switch {
	case err != nil:
		return finding{}, err
	case reason != want:
		return fail("%s, and the reason is %s, not %s", how, reason, want)
	}
	return pass("%s", how)
}
