// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulesv1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	fivespotv1 "github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
)

// A state is what is known of the objects of a sample; nil is what does not exist.
type state struct {
	schedule       *schedulesv1.ManualSchedule
	scheduled      *fivespotv1.ScheduledMachine
	bootstrap      *unstructured.Unstructured
	infrastructure *unstructured.Unstructured
	machine        *clusterv1.Machine
}

// A world keeps a state up to date.
type world struct {
	mu      sync.Mutex
	state   state
	changed func(*state) // called after each change, one call at a time
}

// onChange replaces what is called after each change, and calls it once.
func (w *world) onChange(call func(*state)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed = call
	call(&w.state)
}

// update changes the state and tells of it.
func (w *world) update(change func(*state)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.state)
	w.changed(&w.state)
}

// watch keeps the state up to date until ctx ends.
func (w *world) watch(ctx context.Context, c client.WithWatch, s *sample) {
	var group sync.WaitGroup
	follow(ctx, &group, c, w, s.schedule, func(s *state, now *schedulesv1.ManualSchedule) { s.schedule = now })
	follow(ctx, &group, c, w, s.scheduled, func(s *state, now *fivespotv1.ScheduledMachine) { s.scheduled = now })
	follow(ctx, &group, c, w, s.bootstrap, func(s *state, now *unstructured.Unstructured) { s.bootstrap = now })
	follow(ctx, &group, c, w, s.infrastructure, func(s *state, now *unstructured.Unstructured) { s.infrastructure = now })
	follow(ctx, &group, c, w, s.machine, func(s *state, now *clusterv1.Machine) { s.machine = now })
	group.Wait()
}

// errFollowed keeps a follower following.
var errFollowed = errors.New("followed until the story ends")

// follow calls set with each state of an object, nil where it does not exist.
func follow[T interface {
	client.Object
	comparable
	DeepCopy() T
}](ctx context.Context, group *sync.WaitGroup, c client.WithWatch, w *world, object T, set func(*state, T)) {
	buffer := object.DeepCopy()
	group.Go(func() {
		_ = await.Follow(ctx, c, buffer, func(exists bool) error {
			var now T
			if exists {
				now = buffer.DeepCopy()
			}
			w.update(func(s *state) { set(s, now) })
			return errFollowed
		})
	})
}
