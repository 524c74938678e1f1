// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/sdk"
	"github.com/fivespot/fivespot/sdk/sdktest"
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

// A day of the provider, without a cluster: what it publishes, and when. In a test,
// the timeline is given the *testing.T and compared with a golden file.
func ExampleNew() {
	morning := time.Date(2026, time.June, 15, 6, 0, 0, 0, time.UTC)
	timeline := sdktest.NewTimeline(exampleTB{}, sdk.New(watchKind, EvaluateWatch), morning)
	watches := &WatchSchedule{
		ObjectMeta: metav1.ObjectMeta{Name: "bridge"},
		Spec: WatchSpec{
			First: metav1.Time{Time: morning.Add(2 * time.Hour)},
			Every: metav1.Duration{Duration: 12 * time.Hour},
			Lasts: metav1.Duration{Duration: 4 * time.Hour},
		},
	}
	timeline.Apply(watches)
	timeline.AdvanceTo(morning.Add(15 * time.Hour))
	watches.Spec.Every.Duration = time.Hour // which is too short
	timeline.Apply(watches)
	fmt.Print(timeline)
	// Output:
	// Mon 2026-06-15T06:00:00Z  apply WatchSchedule bridge
	//                           bridge: inactive until Mon 2026-06-15T08:00:00Z (BeforeFirst)
	// Mon 2026-06-15T08:00:00Z  bridge: active until Mon 2026-06-15T12:00:00Z (OnWatch)
	// Mon 2026-06-15T12:00:00Z  bridge: inactive until Mon 2026-06-15T20:00:00Z (OffWatch)
	// Mon 2026-06-15T20:00:00Z  bridge: active until Tue 2026-06-16T00:00:00Z (OnWatch)
	// Mon 2026-06-15T21:00:00Z  apply WatchSchedule bridge
	//                           bridge: active, not ready (InvalidSpec: spec.every must be longer than spec.lasts, which must be longer than nothing)
}

// A decision that depends on a ConfigMap follows it. The ConfigMap is called
// "watches" here; more often the spec names it.
func ExampleWithReads() {
	provider := sdk.New(watchKind, func(ctx context.Context, _ *WatchSchedule, _ time.Time) (sdk.Decision, error) {
		watches, err := sdk.ConfigMaps.Get(ctx, "watches")
		if err != nil {
			return sdk.Decision{}, err
		}
		return sdk.Decision{Active: watches.Data["on"] == "yes"}, nil
	}, sdk.WithReads(sdk.ConfigMaps))

	timeline := sdktest.NewTimeline(exampleTB{}, provider, time.Date(2026, time.June, 15, 6, 0, 0, 0, time.UTC))
	watches := func(on string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watches"}, Data: map[string]string{"on": on}}
	}
	timeline.Apply(&WatchSchedule{ObjectMeta: metav1.ObjectMeta{Name: "bridge"}})
	timeline.Apply(watches("yes"))
	timeline.Apply(watches("no"))
	timeline.Delete(watches(""))
	fmt.Print(timeline)
	// Output:
	// Mon 2026-06-15T06:00:00Z  apply WatchSchedule bridge
	//                           bridge: undecided, not ready (ObjectNotFound: the ConfigMap "watches" does not exist in the namespace of the schedule)
	//                           apply ConfigMap watches
	//                           bridge: active (Reconciled)
	//                           apply ConfigMap watches
	//                           bridge: inactive (Reconciled)
	//                           delete ConfigMap watches
	//                           bridge: inactive, not ready (ObjectNotFound: the ConfigMap "watches" does not exist in the namespace of the schedule)
}

// What the account of a provider has to be allowed, as the rules of a ClusterRole.
func ExampleProvider_Rules() {
	provider := sdk.New(watchKind, EvaluateWatch, sdk.WithReads(sdk.ConfigMaps, sdk.Secrets.Named("watch-feed")))
	manifest, err := yaml.Marshal(map[string]any{"rules": provider.Rules()})
	fmt.Print(string(manifest))
	fmt.Println(err)
	// Output:
	// rules:
	// - apiGroups:
	//   - spotschedules.5spot.finos.org
	//   resources:
	//   - watchschedules
	//   verbs:
	//   - get
	//   - list
	//   - watch
	// - apiGroups:
	//   - spotschedules.5spot.finos.org
	//   resources:
	//   - watchschedules/status
	//   verbs:
	//   - get
	//   - update
	//   - patch
	// - apiGroups:
	//   - ""
	//   resources:
	//   - configmaps
	//   verbs:
	//   - list
	//   - watch
	// - apiGroups:
	//   - ""
	//   resourceNames:
	//   - watch-feed
	//   resources:
	//   - secrets
	//   verbs:
	//   - list
	//   - watch
	// <nil>
}

// A decision that depends on what a server says, and trusts an old answer for ten
// minutes. The timeline calls the question's Ask at the instants at which the
// provider would; here it asks a variable.
func ExampleAsk() {
	var visibility float64
	var failure error
	const grace = 10 * time.Minute
	provider := sdk.New(watchKind, func(ctx context.Context, _ *WatchSchedule, now time.Time) (sdk.Decision, error) {
		miles, err := sdk.Ask(ctx, sdk.Question[float64]{
			Server:   "the weather station",
			Request:  "visibility",
			Interval: 5 * time.Minute,
			Ask:      func(context.Context) (float64, error) { return visibility, failure },
		})
		if err != nil && miles.Age(now) >= grace {
			return sdk.Decision{}, err
		}
		decision := sdk.Decision{Active: miles.Value < 2}
		if err != nil {
			decision.Until, decision.Message = miles.At.Add(grace), err.Error()
		}
		return decision, nil
	})

	six := time.Date(2026, time.June, 15, 6, 0, 0, 0, time.UTC)
	timeline := sdktest.NewTimeline(exampleTB{}, provider, six)
	visibility = 1
	timeline.Apply(&WatchSchedule{ObjectMeta: metav1.ObjectMeta{Name: "bridge"}})
	timeline.AdvanceTo(six.Add(30 * time.Minute))
	failure = errors.New("it does not answer")
	timeline.AdvanceTo(six.Add(55 * time.Minute))
	failure, visibility = nil, 20
	timeline.AdvanceTo(six.Add(2 * time.Hour))
	fmt.Print(timeline)
	// Output:
	// Mon 2026-06-15T06:00:00Z  apply WatchSchedule bridge
	//                           bridge: active (Reconciled)
	// Mon 2026-06-15T06:34:33Z  bridge: active until Mon 2026-06-15T06:39:33Z (Reconciled: the weather station has given no answer since 2026-06-15T06:34:33Z, the last one is of 2026-06-15T06:29:33Z: it does not answer)
	// Mon 2026-06-15T06:39:33Z  bridge: active, not ready (NoAnswer: the weather station has given no answer since 2026-06-15T06:34:33Z, the last one is of 2026-06-15T06:29:33Z: it does not answer)
	// Mon 2026-06-15T06:55:36Z  bridge: inactive (Reconciled)
}

// exampleTB takes the place of a *testing.T, which an example has not got.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper() {}

func (exampleTB) Context() context.Context { return context.Background() }

func (exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
