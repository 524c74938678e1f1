// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/sdk"
)

// WatchSchedule is active for some hours from an instant on, again and again.
type WatchSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WatchSpec       `json:"spec"`
	Status contract.Status `json:"status,omitempty"`
}

// WatchSpec says when the watches are.
type WatchSpec struct {
	First metav1.Time     `json:"first"`
	Every metav1.Duration `json:"every"`
	Lasts metav1.Duration `json:"lasts"`
}

// ScheduleStatus tells the sdk where the contract's part of the status is.
func (s *WatchSchedule) ScheduleStatus() *contract.Status { return &s.Status }

var watchKind = schema.GroupVersionKind{Group: contract.Group, Version: "v1alpha1", Kind: "WatchSchedule"}

// EvaluateWatch is the whole provider. Watches are half-open: active at their
// beginning, inactive at their end.
func EvaluateWatch(_ context.Context, s *WatchSchedule, now time.Time) (sdk.Decision, error) {
	first, every, lasts := s.Spec.First.Time, s.Spec.Every.Duration, s.Spec.Lasts.Duration
	if lasts <= 0 || every <= lasts {
		return sdk.Decision{}, sdk.InvalidSpec(errors.New("spec.every must be longer than spec.lasts, which must be longer than nothing"))
	}
	if now.Before(first) {
		return sdk.Decision{Until: first, Reason: "BeforeFirst"}, nil
	}
	begin := first.Add(now.Sub(first).Truncate(every))
	if end := begin.Add(lasts); now.Before(end) {
		return sdk.Decision{Active: true, Until: end, Reason: "OnWatch"}, nil
	}
	return sdk.Decision{Until: begin.Add(every), Reason: "OffWatch"}, nil
}

// A provider is its kind and its function; sdk.Main(provider) in a main function
// makes a program of it.
func Example() {
	provider := sdk.New(watchKind, EvaluateWatch)
	fmt.Println(provider.Kind().Kind, "in", provider.Kind().GroupVersion())
	// Output:
	// WatchSchedule in spotschedules.5spot.finos.org/v1alpha1
}

// A decision is tested by asking for it, at any instant, without a cluster.
func ExampleDecision() {
	schedule := &WatchSchedule{Spec: WatchSpec{
		First: metav1.Date(2026, time.June, 15, 8, 0, 0, 0, time.UTC),
		Every: metav1.Duration{Duration: 12 * time.Hour},
		Lasts: metav1.Duration{Duration: 4 * time.Hour},
	}}
	for _, hour := range []int{7, 8, 12, 20} {
		now := time.Date(2026, time.June, 15, hour, 0, 0, 0, time.UTC)
		decision, err := EvaluateWatch(context.Background(), schedule, now)
		fmt.Println(now.Format("15:04"), decision.Active, decision.Reason, "until", decision.Until.Format("15:04"), err)
	}

	schedule.Spec.Every.Duration = time.Hour
	_, err := EvaluateWatch(context.Background(), schedule, schedule.Spec.First.Time)
	var invalid *sdk.InvalidSpecError
	fmt.Println(errors.As(err, &invalid), err)
	// Output:
	// 07:00 false BeforeFirst until 08:00 <nil>
	// 08:00 true OnWatch until 12:00 <nil>
	// 12:00 false OffWatch until 20:00 <nil>
	// 20:00 true OnWatch until 00:00 <nil>
	// true spec.every must be longer than spec.lasts, which must be longer than nothing
}
