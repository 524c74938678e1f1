// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	schedulesv1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	fivespotv1 "github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/examples"
)

// fieldManager owns what the demo applies.
const fieldManager = "fivespot-demo"

// A sample is the guide's two objects, and the three that come of them.
type sample struct {
	schedule       *schedulesv1.ManualSchedule
	scheduled      *fivespotv1.ScheduledMachine
	bootstrap      *unstructured.Unstructured
	infrastructure *unstructured.Unstructured
	machine        *clusterv1.Machine
}

func readSample() (*sample, error) {
	s := &sample{
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
	s.bootstrap = s.made(&s.scheduled.Spec.BootstrapSpec)
	s.infrastructure = s.made(&s.scheduled.Spec.InfrastructureSpec)
	s.machine.Namespace, s.machine.Name = s.scheduled.Namespace, s.scheduled.Name
	return s, nil
}

func (s *sample) made(spec *fivespotv1.EmbeddedObject) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.FromAPIVersionAndKind(spec.APIVersion, spec.Kind))
	object.SetNamespace(s.scheduled.Namespace)
	object.SetName(s.scheduled.Name)
	return object
}

// apply does what `kubectl apply --server-side` does with the two manifests.
func (s *sample) apply(ctx context.Context, c client.Client) error {
	for _, manifest := range [][]byte{examples.DeskOverride, examples.TradingDeskRack} {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(manifest, object); err != nil {
			return fmt.Errorf("reading a sample: %w", err)
		}
		configuration := client.ApplyConfigurationFromUnstructured(object)
		if err := c.Apply(ctx, configuration, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// toggle does what the guide's `kubectl patch` does.
func (s *sample) toggle(ctx context.Context, c client.Client, on bool) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"enabled":%t}}`, on))
	if err := c.Patch(ctx, s.schedule.DeepCopy(), patch, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("setting spec.enabled of %s to %t: %w", s.schedule.Name, on, err)
	}
	return nil
}
