// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/internal/alarm"
)

// inputs are what decisions of one provider depend on, beside a spec and an
// instant: other objects, and answers of servers.
type inputs struct {
	declared []declaration
	objects  *objectReads
	polls    *polls
}

// inputsConfig says how inputs come about.
type inputsConfig struct {
	options  options
	logger   logr.Logger
	measures *measures
	// follow tells of an object until ctx is done, see objectReads.
	follow func(ctx context.Context, ref objectRef, tell func(objectState))
	// wake has a schedule evaluated again.
	wake func(schedule types.NamespacedName)
	// begin runs an attempt to ask a server, in the background or not.
	begin func(attempt func())
}

// newInputs returns inputs that follow nothing after ctx is done. Somebody has to
// run the alarms of their polls.
func newInputs(ctx context.Context, c inputsConfig) *inputs {
	asking := &polls{
		ctx:         ctx,
		clock:       c.options.clock,
		alarms:      alarm.New[pollID](c.options.clock),
		wake:        c.wake,
		begin:       c.begin,
		backoffBase: c.options.backoffBase,
		backoffMax:  c.options.backoffMax,
		byID:        map[pollID]*poll{},
		bySchedule:  map[types.NamespacedName][]pollID{},
		perServer:   map[string]int{},
	}
	asking.servers = &servers{
		clock:     c.options.clock,
		logger:    c.logger,
		counted:   c.measures.asked,
		recovered: asking.recovered,
		byName:    map[string]*server{},
	}
	return &inputs{
		declared: c.options.reads,
		objects:  newObjectReads(ctx, c.follow, c.wake),
		polls:    asking,
	}
}

// keepOnly takes out of what a schedule has all but the wanted, and drops it.
func keepOnly[T comparable](
	bySchedule map[types.NamespacedName][]T, schedule types.NamespacedName, wanted []T, drop func(T),
) {
	var kept []T
	for _, each := range bySchedule[schedule] {
		if slices.Contains(wanted, each) {
			kept = append(kept, each)
			continue
		}
		drop(each)
	}
	if len(kept) == 0 {
		delete(bySchedule, schedule)
		return
	}
	bySchedule[schedule] = kept
}

// forget drops all that is kept for a schedule that is gone.
func (i *inputs) forget(schedule types.NamespacedName) {
	i.objects.keep(schedule, nil)
	i.polls.keep(schedule, nil)
}
