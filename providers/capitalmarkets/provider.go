// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/sdk"
)

const (
	// ConditionCalendarCurrent is the condition that says how long the calendar of
	// the exchange is good for. An object whose exchange has no end has none.
	ConditionCalendarCurrent = "CalendarCurrent"
	// ReasonCalendarKnown: there is time left.
	ReasonCalendarKnown = "CalendarKnown"
	// ReasonCalendarEndsSoon: there are 60 days left, or less.
	ReasonCalendarEndsSoon = "CalendarEndsSoon"

	// notice is how long ahead the end of a calendar is announced.
	notice = 60 * 24 * time.Hour
)

// Provider returns the provider of CapitalMarketsSchedule.
func Provider(options ...sdk.Option) *sdk.Provider {
	options = append([]sdk.Option{sdk.WithMetricsName("capital_markets")}, options...)
	return sdk.New(v1alpha1.GroupVersion.WithKind("CapitalMarketsSchedule"), Evaluate, options...)
}

// Evaluate says whether the market is in session. A date that the calendar of the
// exchange does not know is no closed one: the schedule is then not ready.
func Evaluate(_ context.Context, s *v1alpha1.CapitalMarketsSchedule, now time.Time) (sdk.Decision, error) {
	plan, err := NewPlan(&s.Spec)
	if err != nil {
		return sdk.Decision{}, sdk.InvalidSpec(err)
	}
	announce(plan, s, now)
	answer := plan.At(now)
	if answer.Exhausted {
		return sdk.Decision{}, sdk.NotReady(answer.Reason, errors.New(answer.Message))
	}
	return sdk.Decision{Active: answer.Active, Until: answer.Until, Reason: answer.Reason, Message: answer.Message}, nil
}

// announce sets the condition and the metric that tell how long the calendar is
// good for.
func announce(plan *Plan, s *v1alpha1.CapitalMarketsSchedule, now time.Time) {
	until, lastDate, ends := plan.KnownUntil()
	if !ends {
		meta.RemoveStatusCondition(&s.Status.Conditions, ConditionCalendarCurrent)
		return
	}
	showKnownUntil(s.Spec.Exchange, until)
	condition := metav1.Condition{
		Type: ConditionCalendarCurrent, Status: metav1.ConditionTrue, Reason: ReasonCalendarKnown,
		Message:            fmt.Sprintf("the calendar of %s is known until %s", s.Spec.Exchange, lastDate),
		LastTransitionTime: metav1.NewTime(now),
	}
	switch {
	case !plan.Known(now):
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, ReasonCalendarExhausted, plan.exhaustedMessage()
	case !now.Before(until.Add(-notice)):
		condition.Status, condition.Reason = metav1.ConditionFalse, ReasonCalendarEndsSoon
		condition.Message += "; after that the schedule decides nothing. Update 5-Spot, or list the sessions in the spec"
	}
	meta.SetStatusCondition(&s.Status.Conditions, condition)
}
