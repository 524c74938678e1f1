// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// reader is a 5-Spot that follows ManualSchedules and makes no machine. It may
// have one fault, which the real one must not have.
type reader struct {
	client client.WithWatch
	fault  string
}

const (
	staysAsItWas = "stays as it was first"
	doesNotHold  = "does not hold"
)

// startReader runs a reader until the end of the test.
func startReader(t *testing.T, fault string) {
	t.Helper()
	r := &reader{client: devplanetest.Client(t), fault: fault}
	changes := make(chan struct{}, 1)
	for _, list := range []client.ObjectList{&v1beta1.ScheduledMachineList{}, &v1alpha1.ManualScheduleList{}} {
		watcher, err := r.client.Watch(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watcher.Stop)
		go func() {
			for range watcher.ResultChan() {
				select {
				case changes <- struct{}{}:
				default: // it will look anyway
				}
			}
		}()
	}
	runUntilTheEnd(t, func(ctx context.Context) error { return r.follow(ctx, changes) })
}

// follow looks at every ScheduledMachine after each change of anything.
func (r *reader) follow(ctx context.Context, changes <-chan struct{}) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		}
		machines := &v1beta1.ScheduledMachineList{}
		if err := r.client.List(ctx, machines); err != nil {
			return err
		}
		for _, sm := range machines.Items {
			if err := r.report(ctx, &sm); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
}

func (r *reader) report(ctx context.Context, sm *v1beta1.ScheduledMachine) error {
	verdict, err := r.read(ctx, client.ObjectKey{Namespace: sm.Namespace, Name: sm.Spec.Schedule.Name})
	if err != nil {
		return err
	}
	before := sm.DeepCopy()
	status := &sm.Status
	if status.SpotSchedule == nil {
		status.SpotSchedule = &v1beta1.SpotScheduleStatus{}
	}
	first := status.SpotSchedule.Active == nil
	resolved := metav1.ConditionFalse
	switch {
	case verdict.Resolved() && (first || r.fault != staysAsItWas):
		status.SpotSchedule.Active = new(verdict.State == contract.Active)
		resolved = metav1.ConditionTrue
	case verdict.Resolved():
		resolved = metav1.ConditionTrue
	case r.fault == doesNotHold && !first:
		status.SpotSchedule.Active = new(false)
	}
	status.SpotSchedule.Resolved = verdict.Resolved()
	status.InSchedule = status.SpotSchedule.Active != nil && *status.SpotSchedule.Active
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1beta1.ConditionSpotScheduleResolved, Status: resolved, Reason: verdict.Reason, Message: verdict.Message,
	})
	return r.client.Status().Patch(ctx, sm, client.MergeFrom(before))
}

func (r *reader) read(ctx context.Context, key client.ObjectKey) (contract.Verdict, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ManualSchedule"))
	if err := r.client.Get(ctx, key, object); err != nil {
		return contract.UnresolvedBecause(contract.ReasonProviderNotFound, "there is none"), client.IgnoreNotFound(err)
	}
	return contract.ReadObject(object).Verdict, nil
}
