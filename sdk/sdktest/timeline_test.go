// SPDX-License-Identifier: Apache-2.0

package sdktest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/sdk"
	"github.com/fivespot/fivespot/sdk/sdktest"
)

// TideSchedule is active at high tide, of which a ConfigMap lists the hours, and
// while the lock of the harbour is open.
type TideSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TideSpec        `json:"spec"`
	Status contract.Status `json:"status,omitempty"`
}

// TideSpec names where to look.
type TideSpec struct {
	// Table is the name of a ConfigMap whose key "high" lists hours of the day.
	Table string `json:"table"`
	// Lock is whom to ask whether the lock is open; empty means nobody.
	Lock string `json:"lock,omitempty"`
}

// ScheduleStatus tells the sdk where the contract's part of the status is.
func (s *TideSchedule) ScheduleStatus() *contract.Status { return &s.Status }

var tideKind = schema.GroupVersionKind{Group: contract.Group, Version: "v1", Kind: "TideSchedule"}

// lock is the server in these tests.
type lock struct {
	open  bool
	fails error
	asked int
}

func (l *lock) ask(context.Context) (bool, error) {
	l.asked++
	return l.open, l.fails
}

// provider returns a provider of TideSchedule.
func provider(l *lock) *sdk.Provider {
	return sdk.New(tideKind, func(ctx context.Context, s *TideSchedule, now time.Time) (sdk.Decision, error) {
		table, err := sdk.ConfigMaps.Get(ctx, s.Spec.Table)
		if err != nil {
			return sdk.Decision{}, err
		}
		decision := sdk.Decision{Reason: "LowTide", Until: now.Truncate(time.Hour).Add(time.Hour)}
		for hour := range strings.FieldsSeq(table.Data["high"]) {
			if hour == now.Format("15") {
				decision.Active, decision.Reason = true, "HighTide"
			}
		}
		if s.Spec.Lock == "" {
			return decision, nil
		}
		open, err := sdk.Ask(ctx, sdk.Question[bool]{Server: s.Spec.Lock, Request: "/open", Interval: 10 * time.Minute, Ask: l.ask})
		if err != nil {
			return sdk.Decision{}, err
		}
		if !open.Value {
			decision.Active, decision.Reason = false, "LockClosed"
		}
		return decision, nil
	}, sdk.WithReads(sdk.ConfigMaps))
}

var midnight = time.Date(2026, time.June, 15, 0, 0, 0, 0, time.UTC)

func table(hours string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "tides"}, Data: map[string]string{"high": hours}}
}

func harbour(spec TideSpec) *TideSchedule {
	return &TideSchedule{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}, Spec: spec}
}

func TestATimelineShowsWhatAProviderPublishesAndWhen(t *testing.T) {
	server := &lock{open: true}
	timeline := sdktest.NewTimeline(t, provider(server), midnight)
	timeline.Apply(harbour(TideSpec{Table: "tides"}))
	timeline.AdvanceTo(midnight.Add(90 * time.Minute))
	timeline.Apply(table("02 03 14 15"))
	timeline.AdvanceTo(midnight.Add(150 * time.Minute))
	timeline.Apply(table("03 14 15"))
	timeline.AdvanceTo(midnight.Add(160 * time.Minute))
	timeline.Apply(harbour(TideSpec{Table: "tides", Lock: "the lock"}))
	timeline.AdvanceTo(midnight.Add(190 * time.Minute))
	server.open = false
	timeline.AdvanceTo(midnight.Add(3 * time.Hour).Add(35 * time.Minute))
	server.fails = errors.New("connection refused")
	timeline.AdvanceTo(midnight.Add(5 * time.Hour))
	server.fails, server.open = nil, true
	timeline.AdvanceTo(midnight.Add(15 * time.Hour))
	timeline.Delete(table(""))
	timeline.AdvanceTo(midnight.Add(16 * time.Hour))
	timeline.Delete(harbour(TideSpec{}))
	timeline.AdvanceTo(midnight.Add(24 * time.Hour))
	timeline.Golden("testdata/tides.txt")
}

func TestAZeroBackoffIsTheUsualOne(t *testing.T) {
	var called []time.Time
	failing := sdk.New(tideKind, func(_ context.Context, _ *TideSchedule, now time.Time) (sdk.Decision, error) {
		called = append(called, now)
		return sdk.Decision{}, errors.New("no tide table")
	}, sdk.WithBackoff(0, 2*time.Second))
	timeline := sdktest.NewTimeline(t, failing, midnight)
	timeline.Apply(harbour(TideSpec{}))
	timeline.AdvanceTo(midnight.Add(5 * time.Second))
	want := []time.Time{midnight, midnight.Add(time.Second), midnight.Add(3 * time.Second), midnight.Add(5 * time.Second)}
	if diff := cmp.Diff(want, called); diff != "" {
		t.Errorf("Evaluate is called (-want +got):\n%s", diff)
	}
}
