// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	schedulesv1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	fivespotv1 "github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/examples"
	"github.com/fivespot/fivespot/internal/await"
)

// The names in the guide.
const (
	scheduleName = "desk-override"
	machineName  = "trading-desk-rack"
)

const (
	fieldManager = "fivespot-demo"
	// patience bounds each step; all of them together take seconds.
	patience = 2 * time.Minute
)

// A story is the guide's, step by step. The fields are what it watches.
type story struct {
	*teller
	client    client.WithWatch
	schedule  *schedulesv1.ManualSchedule
	scheduled *fivespotv1.ScheduledMachine
	machine   *clusterv1.Machine
	// made are the bootstrap and the infrastructure object.
	made []*unstructured.Unstructured
}

func newStory(c client.WithWatch, t *teller) (*story, error) {
	s := &story{
		teller:    t,
		client:    c,
		schedule:  &schedulesv1.ManualSchedule{},
		scheduled: &fivespotv1.ScheduledMachine{},
		machine:   &clusterv1.Machine{},
	}
	if err := yaml.UnmarshalStrict(examples.DeskOverride, s.schedule); err != nil {
		return nil, fmt.Errorf("reading the sample of a schedule: %w", err)
	}
	if err := yaml.UnmarshalStrict(examples.TradingDeskRack, s.scheduled); err != nil {
		return nil, fmt.Errorf("reading the sample of a machine: %w", err)
	}
	s.machine.Namespace, s.machine.Name = s.scheduled.Namespace, s.scheduled.Name
	for _, spec := range []fivespotv1.EmbeddedObject{s.scheduled.Spec.BootstrapSpec, s.scheduled.Spec.InfrastructureSpec} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.FromAPIVersionAndKind(spec.APIVersion, spec.Kind))
		object.SetNamespace(s.scheduled.Namespace)
		object.SetName(s.scheduled.Name)
		s.made = append(s.made, object)
	}
	return s, nil
}

func (s *story) play(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.begin,
		s.nothingRuns,
		s.toggleOn,
		s.verdictSeen,
		s.objectsAppear,
		s.machineRuns,
		s.toggleOff,
		s.nothingIsLeft,
	} {
		ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took more than %s", patience))
		err := step(ctx)
		cancel()
		if err != nil {
			s.say("this went wrong: %v", err)
			return fmt.Errorf("playing the guide: %w", err)
		}
	}
	return nil
}

func (s *story) begin(ctx context.Context) error {
	if err := s.apply(ctx, examples.DeskOverride); err != nil {
		return err
	}
	if err := s.apply(ctx, examples.TradingDeskRack); err != nil {
		return err
	}
	if err := s.toggle(ctx, false); err != nil {
		return err
	}
	s.say("ManualSchedule %s is off, ScheduledMachine %s follows it", scheduleName, machineName)
	return nil
}

func (s *story) nothingRuns(ctx context.Context) error {
	if err := s.awaitVerdict(ctx, false); err != nil {
		return err
	}
	if err := await.Object(ctx, s.client, s.scheduled, s.phase(fivespotv1.PhaseInactive)); err != nil {
		return err
	}
	if err := await.Gone(ctx, s.client, s.machine); err != nil {
		return err
	}
	s.say("the ScheduledMachine is %s, there is no Machine", s.scheduled.Status.Phase)
	return nil
}

func (s *story) toggleOn(ctx context.Context) error {
	if err := s.toggle(ctx, true); err != nil {
		return err
	}
	s.say("the toggle goes on: spec.enabled is true")
	return s.awaitVerdict(ctx, true)
}

func (s *story) verdictSeen(ctx context.Context) error {
	err := await.Object(ctx, s.client, s.scheduled, func() error {
		resolved := meta.FindStatusCondition(s.scheduled.Status.Conditions, fivespotv1.ConditionSpotScheduleResolved)
		if resolved == nil || resolved.Status != "True" || !s.scheduled.Status.InSchedule {
			return errors.New("5-Spot has not seen the verdict yet")
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.say("5-Spot sees the verdict: SpotScheduleResolved is True, inSchedule is true")
	return nil
}

func (s *story) objectsAppear(ctx context.Context) error {
	for _, object := range s.made {
		if err := await.Object(ctx, s.client, object, func() error { return nil }); err != nil {
			return err
		}
		s.say("%s %s appears", object.GetKind(), object.GetName())
	}
	if err := await.Object(ctx, s.client, s.machine, func() error { return nil }); err != nil {
		return err
	}
	s.say("Machine %s appears", s.machine.Name)
	return nil
}

func (s *story) machineRuns(ctx context.Context) error {
	err := await.Object(ctx, s.client, s.machine, func() error {
		ready := meta.FindStatusCondition(s.machine.Status.Conditions, clusterv1.MachineNodeReadyCondition)
		if ready == nil || ready.Status != "True" || !s.machine.Status.NodeRef.IsDefined() {
			return fmt.Errorf("it is %s and its Node is not ready: %s", s.machine.Status.Phase, message(ready))
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.say("the Machine is %s, Node %s is ready", s.machine.Status.Phase, s.machine.Status.NodeRef.Name)
	if err := await.Object(ctx, s.client, s.scheduled, s.phase(fivespotv1.PhaseActive)); err != nil {
		return err
	}
	s.say("the ScheduledMachine is %s", s.scheduled.Status.Phase)
	return nil
}

// toggleOff watches the Machine from before the toggle goes off, since it may be
// gone within a second.
func (s *story) toggleOff(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	watching := make(chan struct{})
	told := ""
	group.Go(func() error {
		begun := sync.OnceFunc(func() { close(watching) })
		return await.Gone(ctx, s.client, s.machine, begun, func() {
			deleting := meta.FindStatusCondition(s.machine.Status.Conditions, clusterv1.MachineDeletingCondition)
			if deleting != nil && deleting.Status == "True" && deleting.Reason != told {
				told = deleting.Reason
				s.say("the Machine is going: %s", told)
			}
		})
	})
	group.Go(func() error {
		select {
		case <-watching:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := s.toggle(ctx, false); err != nil {
			return err
		}
		s.say("the toggle goes off: spec.enabled is false")
		return s.awaitVerdict(ctx, false)
	})
	return group.Wait()
}

func (s *story) nothingIsLeft(ctx context.Context) error {
	s.say("the Machine is gone")
	for _, object := range s.made {
		if err := await.Gone(ctx, s.client, object); err != nil {
			return err
		}
		s.say("%s %s is gone", object.GetKind(), object.GetName())
	}
	if err := await.Object(ctx, s.client, s.scheduled, s.phase(fivespotv1.PhaseInactive)); err != nil {
		return err
	}
	s.say("the ScheduledMachine is %s", s.scheduled.Status.Phase)
	return nil
}

// apply does what `kubectl apply --server-side` does with a sample.
func (s *story) apply(ctx context.Context, manifest []byte) error {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(manifest, object); err != nil {
		return fmt.Errorf("reading a sample: %w", err)
	}
	configuration := client.ApplyConfigurationFromUnstructured(object)
	if err := s.client.Apply(ctx, configuration, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// toggle is the guide's kubectl patch.
func (s *story) toggle(ctx context.Context, on bool) error {
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"enabled":%t}}`, on))
	if err := s.client.Patch(ctx, s.schedule, patch, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("setting spec.enabled of ManualSchedule %s to %t: %w", scheduleName, on, err)
	}
	return nil
}

// awaitVerdict waits for the provider's answer to the current spec.
func (s *story) awaitVerdict(ctx context.Context, active bool) error {
	err := await.Object(ctx, s.client, s.schedule, func() error {
		got := s.schedule.Status
		if got.Active == nil || *got.Active != active || got.ObservedGeneration != s.schedule.Generation {
			return fmt.Errorf("its provider has not said status.active: %t yet", active)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.say("its provider says status.active: %t", active)
	return nil
}

func (s *story) phase(want fivespotv1.Phase) func() error {
	return func() error {
		if got := s.scheduled.Status.Phase; got != want {
			return fmt.Errorf("it is %s and not %s: %s", got, want, s.scheduled.Status.Message)
		}
		return nil
	}
}

// message returns what a condition says, and that there is none if there is none.
func message(condition *metav1.Condition) string {
	if condition == nil {
		return "there is no word of it"
	}
	return condition.Message
}
