// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/sdk/internal/simulation"
)

func init() { //nolint:gochecknoinits // it opens a door for sdktest that is closed to everybody else
	simulation.New = func(ctx context.Context, provider any, clock clock.Clock) (simulation.Simulation, error) {
		p, ok := provider.(*Provider)
		if !ok {
			return nil, fmt.Errorf("a simulation is of a provider, not of a %T", provider)
		}
		return newSimulated(ctx, p, clock)
	}
}

// simulated runs the reconciler of a provider on objects in memory. It does what
// the controller does, one thing after the other: it calls Reconcile for what is
// woken, and fires the alarms when their instant has come.
type simulated struct {
	*reconciler

	ctx      context.Context
	provider *Provider
	objects  *objectsInMemory
	// woken are the schedules to reconcile, in order.
	woken []types.NamespacedName
	// retries are the instants for which Reconcile asked to be called again.
	retries map[types.NamespacedName]time.Time
}

func newSimulated(ctx context.Context, p *Provider, clock clock.Clock) (*simulated, error) {
	if p.mistake != nil {
		return nil, fmt.Errorf("provider of %s: %w", p.kind.Kind, p.mistake)
	}
	measures, err := newMeasures(prometheus.NewRegistry(), p.kind.Kind, p.options.metricsName)
	if err != nil {
		return nil, fmt.Errorf("provider of %s: registering its metrics: %w", p.kind.Kind, err)
	}
	simulatedProvider := *p
	simulatedProvider.options.clock = clock
	s := &simulated{
		ctx: ctx, provider: &simulatedProvider, objects: newObjectsInMemory(),
		retries: map[types.NamespacedName]time.Time{},
	}
	in := newInputs(ctx, inputsConfig{
		options: simulatedProvider.options, logger: logr.FromContextOrDiscard(ctx), measures: measures,
		follow: s.objects.follow, wake: s.wake, begin: func(attempt func()) { attempt() },
	})
	s.reconciler = newReconciler(&simulatedProvider, s.objects, s.objects, in, measures)
	return s, nil
}

func (s *simulated) wake(schedule types.NamespacedName) {
	if !slices.Contains(s.woken, schedule) {
		s.woken = append(s.woken, schedule)
	}
}

// Apply implements simulation.Simulation.
func (s *simulated) Apply(object any) (string, error) {
	ref, kind, err := s.identify(object)
	if err != nil {
		return kind, err
	}
	content, err := encode(object)
	if err != nil {
		return kind, err
	}
	s.objects.apply(ref, &unstructured.Unstructured{Object: content}, s.clock.Now())
	if ref.resource == scheduleResource {
		s.wake(types.NamespacedName{Namespace: ref.namespace, Name: ref.name})
	}
	return kind, nil
}

// Delete implements simulation.Simulation.
func (s *simulated) Delete(object any) (string, error) {
	ref, kind, err := s.identify(object)
	if err != nil {
		return kind, err
	}
	if !s.objects.delete(ref) {
		return kind, fmt.Errorf("there is no %s %q to delete", kind, ref.name)
	}
	if ref.resource == scheduleResource {
		s.wake(types.NamespacedName{Namespace: ref.namespace, Name: ref.name})
	}
	return kind, nil
}

// Get implements simulation.Simulation.
func (s *simulated) Get(object any) error {
	ref, kind, err := s.identify(object)
	if err != nil {
		return err
	}
	content := s.objects.get(ref)
	if content == nil {
		return fmt.Errorf("there is no %s %q", kind, ref.name)
	}
	return decodeInto(content.Object, object)
}

// identify tells which object is meant: it is a schedule of the provider, or of
// a type that the provider declared to read.
func (s *simulated) identify(object any) (objectRef, string, error) {
	of := reflect.TypeOf(object)
	meta, ok := object.(interface {
		GetNamespace() string
		SetNamespace(namespace string)
		GetName() string
	})
	if !ok || of.Kind() != reflect.Pointer {
		return objectRef{}, "", fmt.Errorf("%T is not a pointer to an object", object)
	}
	if meta.GetNamespace() == "" {
		meta.SetNamespace("default")
	}
	ref := objectRef{namespace: meta.GetNamespace(), name: meta.GetName()}
	if ref.name == "" {
		return ref, "", fmt.Errorf("the %s has no name", of.Elem().Name())
	}
	if of.Elem() == s.provider.scheduleType {
		ref.resource = scheduleResource
		return ref, s.kind.Kind, nil
	}
	for _, declared := range s.provider.options.reads {
		if declared.goType == of.Elem() {
			ref.resource = declared.resource
			return ref, declared.kind, nil
		}
	}
	return ref, "", fmt.Errorf("%s is neither a %s nor declared by WithReads", of.Elem(), s.provider.scheduleType)
}

// maxSteps bounds what may be done at one instant. A provider that has more to do
// runs in a circle.
const maxSteps = 10_000

// Settle implements simulation.Simulation.
func (s *simulated) Settle() error {
	for range maxSteps {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		busy, err := s.step()
		if err != nil {
			return err
		}
		if !busy {
			return nil
		}
	}
	return fmt.Errorf("the provider does not come to rest at %s", s.clock.Now())
}

// step does one thing that is due; it returns false when nothing is.
func (s *simulated) step() (bool, error) {
	now := s.clock.Now()
	if len(s.woken) > 0 {
		name := s.woken[0]
		s.woken = s.woken[1:]
		return true, s.reconcileOne(name)
	}
	for _, id := range s.inputs.polls.pending() {
		if at, ok := s.inputs.polls.alarms.At(id); ok && !at.After(now) {
			s.inputs.polls.alarms.Clear(id)
			s.inputs.polls.due(id)
			return true, nil
		}
	}
	for _, name := range s.objects.schedules() {
		at, ok := s.alarms.At(name)
		retryAt, retry := s.retries[name]
		if (ok && !at.After(now)) || (retry && !retryAt.After(now)) {
			s.alarms.Clear(name)
			s.wake(name)
			return true, nil
		}
	}
	return false, nil
}

func (s *simulated) reconcileOne(name types.NamespacedName) error {
	delete(s.retries, name)
	result, err := s.Reconcile(s.ctx, reconcile.Request{NamespacedName: name})
	if err != nil {
		return fmt.Errorf("reconciling %s: %w", name.Name, err)
	}
	if result.RequeueAfter > 0 {
		s.retries[name] = s.clock.Now().Add(result.RequeueAfter)
	}
	return nil
}

// Next implements simulation.Simulation.
func (s *simulated) Next() (time.Time, bool) {
	var next time.Time
	consider := func(at time.Time, ok bool) {
		if ok && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, name := range s.objects.schedules() {
		consider(s.alarms.At(name))
		at, ok := s.retries[name]
		consider(at, ok)
	}
	for _, id := range s.inputs.polls.pending() {
		consider(s.inputs.polls.alarms.At(id))
	}
	return next, !next.IsZero()
}

// Schedules implements simulation.Simulation.
func (s *simulated) Schedules() []*unstructured.Unstructured {
	var schedules []*unstructured.Unstructured
	for _, name := range s.objects.schedules() {
		schedules = append(schedules, s.objects.get(refOfSchedule(name)))
	}
	return schedules
}

// comparePolls orders questions, for a simulation that is the same every time.
func comparePolls(a, b pollID) int {
	return strings.Compare(a.schedule.String()+"\x00"+a.server+"\x00"+a.request, b.schedule.String()+"\x00"+b.server+"\x00"+b.request)
}
