// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/alarm"
)

// pollID names a question of a schedule.
type pollID struct {
	schedule        types.NamespacedName
	server, request string
}

// poll is a question that is asked again and again.
type poll struct {
	question question
	// looked sums up what Evaluate had looked at when it put the question last.
	looked string
	state  answerState
	// failures is their number in a row.
	failures int
	underWay bool
	// began is when the last attempt did.
	began time.Time
	// again asks for another attempt after the one that is under way.
	again bool
}

// polls asks the questions of all schedules of a provider, each at its time.
type polls struct {
	// ctx ends the asking.
	ctx    context.Context
	clock  clock.Clock
	alarms *alarm.Queue[pollID]
	// servers asks.
	servers *servers
	// wake has a schedule evaluated again.
	wake func(schedule types.NamespacedName)
	// begin runs an attempt, in the background or not.
	begin                   func(attempt func())
	backoffBase, backoffMax time.Duration

	mu         sync.Mutex
	byID       map[pollID]*poll
	bySchedule map[types.NamespacedName][]pollID
	// perServer counts the questions of a server.
	perServer map[string]int
}

// ask returns what is known of a question, and sees to it from now on.
func (p *polls) ask(id pollID, q question, looked string, now time.Time) answerState {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, known := p.byID[id]
	if !known {
		asked = &poll{}
		p.byID[id] = asked
		p.bySchedule[id.schedule] = append(p.bySchedule[id.schedule], id)
		p.perServer[id.server]++
	}
	before := *asked
	asked.question, asked.looked = q, looked
	switch {
	case before.looked != looked && before.underWay:
		asked.again = true
	case before.looked != looked:
		p.alarms.Set(id, asked.soonest(now))
	case before.question.interval != q.interval && !before.underWay:
		p.alarms.Set(id, spread(id, q.interval, now))
	}
	return asked.state
}

// soonest returns when to ask for what changed: now, unless it was asked in this
// second.
func (p *poll) soonest(now time.Time) time.Time {
	if earliest := p.began.Add(minInterval); earliest.After(now) {
		return earliest
	}
	return now
}

// due makes an attempt, unless one is under way.
func (p *polls) due(id pollID) {
	p.mu.Lock()
	asked := p.byID[id]
	if asked == nil || asked.underWay {
		p.mu.Unlock()
		return
	}
	asked.underWay = true
	asked.began = p.clock.Now()
	q := asked.question
	p.mu.Unlock()
	p.begin(func() {
		value, err := p.servers.ask(p.ctx, q)
		if p.ctx.Err() == nil {
			p.ended(id, asked, value, err)
		}
	})
}

// ended takes note of an attempt's outcome, and wakes the schedule if that is news.
func (p *polls) ended(id pollID, asked *poll, value any, err error) {
	now := p.clock.Now().Round(0).UTC()
	p.mu.Lock()
	if p.byID[id] != asked {
		p.mu.Unlock()
		return // let go meanwhile
	}
	before := asked.state
	asked.state = before.after(id.server, value, err, now)
	asked.underWay = false
	if err == nil {
		asked.failures = 0
	} else {
		asked.failures++
	}
	p.alarms.Set(id, p.next(id, asked, now))
	asked.again = false
	news := asked.state.news(before)
	p.mu.Unlock()
	if news {
		p.wake(id.schedule)
	}
}

// next returns when to ask again.
func (p *polls) next(id pollID, asked *poll, now time.Time) time.Time {
	switch {
	case asked.again:
		return asked.soonest(now)
	case asked.failures > 0:
		return now.Add(pause(asked.failures, p.backoffBase, min(p.backoffMax, asked.question.interval)))
	}
	return spread(id, asked.question.interval, now)
}

// recovered asks a server that answers again all that it owes an answer to.
func (p *polls) recovered(server string) {
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, asked := range p.byID {
		if id.server == server && asked.failures > 0 && !asked.underWay {
			p.alarms.Set(id, now)
		}
	}
}

// keep drops the questions of a schedule that it does not have any more.
func (p *polls) keep(schedule types.NamespacedName, ids []pollID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keepOnly(p.bySchedule, schedule, ids, p.drop)
}

// drop needs the lock.
func (p *polls) drop(id pollID) {
	p.alarms.Clear(id)
	delete(p.byID, id)
	p.perServer[id.server]--
	if p.perServer[id.server] == 0 {
		delete(p.perServer, id.server)
		p.servers.forget(id.server)
	}
}

// pending returns the questions that are asked, in order.
func (p *polls) pending() []pollID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Keys(p.byID), comparePolls)
}
