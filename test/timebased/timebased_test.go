// SPDX-License-Identifier: Apache-2.0

package timebased

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestBoundariesAreHitExactlyInEveryZone(t *testing.T) {
	const hours = `daysOfWeek: [mon-sun], hoursOfDay: ["9-17"]`
	tests := map[string]struct{ spec, open, close, reopen string }{
		"kathmandu": {`{timezone: Asia/Kathmandu, ` + hours + `}`, "2026-06-15T03:15:00Z", "2026-06-15T12:15:00Z", "2026-06-16T03:15:00Z"},
		"chatham":   {`{timezone: Pacific/Chatham, ` + hours + `}`, "2026-06-14T20:15:00Z", "2026-06-15T05:15:00Z", "2026-06-15T20:15:00Z"},
		"spring":    {`{timezone: Europe/Berlin, windows: [{days: [sun], start: "02:30", end: "05:00"}]}`, "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z", "2026-04-05T00:30:00Z"},
		"seconds":   {`{once: [{start: "2026-06-15T03:15:07Z", end: "2026-06-15T03:15:08Z"}]}`, "2026-06-15T03:15:07Z", "2026-06-15T03:15:08Z", ""},
	}
	namespace := devplanetest.Namespace(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			open, shut := instant(t, test.open), instant(t, test.close)
			clock := clockAt(t, test.open)
			clock.SetTime(open.Add(-time.Minute))
			stop := start(t, clock)
			s := create(t, namespace, name, test.spec)
			awaitClosed(t, s)
			checkNext(t, s, test.open)
			version := s.ResourceVersion

			clock.SetTime(open.Add(-time.Nanosecond))
			settle(t, namespace)
			if err := devplanetest.Client(t).Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
				t.Fatal(err)
			}
			if s.ResourceVersion != version {
				t.Errorf("it was written a nanosecond early: %+v", s.Status)
			}

			clock.SetTime(open)
			awaitOpen(t, s)
			checkNext(t, s, test.close)
			clock.SetTime(shut)
			awaitClosed(t, s)
			checkNext(t, s, test.reopen)
			if got := s.Status.LastTransitionTime; !got.Time.Equal(shut) {
				t.Errorf("lastTransitionTime is %s, want %s", got, shut)
			}
			stop()
		})
	}
}

func checkNext(t *testing.T, s *v1alpha1.TimeBasedSpotSchedule, want string) {
	t.Helper()
	got := ""
	if next := s.Status.NextTransitionTime; next != nil {
		got = next.UTC().Format(time.RFC3339)
	}
	if got != want {
		t.Errorf("nextTransitionTime is %q, want %q", got, want)
	}
}

func TestARestartAcrossABoundaryIsOneTransition(t *testing.T) {
	for name, back := range map[string]string{"17 minutes": "2026-06-15T07:07:00Z", "three weeks": "2026-07-06T07:07:00Z"} {
		t.Run(name, func(t *testing.T) {
			namespace := devplanetest.Namespace(t)
			clock := clockAt(t, "2026-06-15T06:45:00Z")
			stop := start(t, clock)
			s := create(t, namespace, "paris", `{timezone: Europe/Paris, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`)
			awaitClosed(t, s)
			checkNext(t, s, "2026-06-15T07:00:00Z")
			clock.SetTime(instant(t, "2026-06-15T06:50:00Z"))
			stop()

			seen := countWrites(t, namespace)
			clock.SetTime(instant(t, back))
			stop = start(t, clock)
			awaitOpen(t, s)
			settle(t, namespace)
			stop()
			checkNext(t, s, back[:len("2026-06-15")]+"T16:00:00Z")
			if got := s.Status.LastTransitionTime; !got.Time.Equal(instant(t, back)) {
				t.Errorf("lastTransitionTime is %s, want that of the restart, %s", got, back)
			}
			if got := seen.untilNow()["paris"]; got != 1 {
				t.Errorf("the restart wrote %d times, want once", got)
			}

			stop = start(t, clock)
			settle(t, namespace)
			stop()
			if got := seen.untilNow()["paris"]; got != 0 {
				t.Errorf("the second restart wrote %d times, want none", got)
			}
		})
	}
}

// As when the machine slept, or its clock was set.
func TestAClockThatJumpsOverBoundariesIsOneTransitionAtMost(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := clockAt(t, "2026-06-15T06:50:00Z")
	start(t, clock)
	s := create(t, namespace, "paris", `{timezone: Europe/Paris, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`)
	awaitClosed(t, s)
	settle(t, namespace)
	seen := countWrites(t, namespace)

	clock.SetTime(instant(t, "2026-07-06T07:07:00Z"))
	awaitOpen(t, s)
	checkNext(t, s, "2026-07-06T16:00:00Z")
	settle(t, namespace)
	if got := seen.untilNow()["paris"]; got != 1 {
		t.Errorf("three weeks at once wrote %d times, want once", got)
	}

	clock.SetTime(instant(t, "2026-08-03T07:07:00Z")) // open then as well
	devplanetest.Await(t, s, func() error {
		if next := s.Status.NextTransitionTime; next == nil || !next.Time.Equal(instant(t, "2026-08-03T16:00:00Z")) {
			return fmt.Errorf("nextTransitionTime is %s", next)
		}
		return nil
	})
	if got := s.Status.LastTransitionTime; !got.Time.Equal(instant(t, "2026-07-06T07:07:00Z")) {
		t.Errorf("lastTransitionTime moved to %s without a transition", got)
	}
	if got := seen.untilNow()["paris"]; got != 1 {
		t.Errorf("a month at once wrote %d times, want once", got)
	}
}

func TestAThousandSchedulesFlipAtOneInstantEachWrittenOnce(t *testing.T) {
	const n = 1000
	namespace := devplanetest.Namespace(t)
	clock := clockAt(t, "2026-06-15T06:50:00Z")
	start(t, clock)
	createMany(t, namespace, `{timezone: Europe/Paris, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`, n)
	awaitMany(t, namespace, n, false)
	settle(t, namespace)
	seen := countWrites(t, namespace)

	for range 9 {
		clock.Step(time.Minute)
	}
	settle(t, namespace)
	if got := manyOf(seen.untilNow()); len(got) > 0 {
		t.Errorf("nine minutes without a boundary wrote %d objects", len(got))
	}

	clock.SetTime(instant(t, "2026-06-15T07:00:00Z"))
	awaitMany(t, namespace, n, true)
	settle(t, namespace)
	got := manyOf(seen.untilNow())
	for name, count := range got {
		if count != 1 {
			t.Errorf("%s was written %d times", name, count)
		}
	}
	if len(got) != n {
		t.Errorf("%d objects of %d were written", len(got), n)
	}

	clock.SetTime(instant(t, "2026-06-15T15:59:59Z"))
	settle(t, namespace)
	if got := manyOf(seen.untilNow()); len(got) > 0 {
		t.Errorf("nine hours without a boundary wrote %d objects", len(got))
	}
}

// awaitMany returns when n schedules are active, or are not.
func awaitMany(t *testing.T, namespace string, n int, active bool) {
	t.Helper()
	c, ctx := devplanetest.Client(t), devplanetest.Context(t)
	list := &v1alpha1.TimeBasedSpotScheduleList{}
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(ctx, &v1alpha1.TimeBasedSpotScheduleList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	done := map[string]bool{}
	look := func(s *v1alpha1.TimeBasedSpotSchedule) {
		if strings.HasPrefix(s.Name, "many-") && s.Status.Active != nil && *s.Status.Active == active {
			done[s.Name] = true
		}
	}
	for i := range list.Items {
		look(&list.Items[i])
	}
	for len(done) < n {
		event, err := next(ctx, w)
		if err != nil {
			t.Fatalf("%d of %d schedules have come to active=%t: %v", len(done), n, active, err)
		}
		look(event.Object.(*v1alpha1.TimeBasedSpotSchedule))
	}
}

func manyOf(counts map[string]int) map[string]int {
	many := map[string]int{}
	for name, count := range counts {
		if strings.HasPrefix(name, "many-") {
			many[name] = count
		}
	}
	return many
}

// Admission knows no grammar of hours and no list of zones.
func TestABadSpecThatGotPastAdmissionKeepsTheVerdict(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := clockAt(t, "2026-06-15T09:00:00Z")
	start(t, clock)
	s := create(t, namespace, "desk", `{timezone: Europe/Paris, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`)
	awaitOpen(t, s)
	edit(t, s, `{"spec":{"timezone":"europe/paris","hoursOfDay":["9-17","25"]}}`)
	await(t, s, true, metav1.ConditionFalse, "InvalidSpec")
	want := `spec.timezone: "europe/paris" is not an IANA time zone name such as Europe/Berlin or UTC; did you mean Europe/Paris?; ` +
		`spec.hoursOfDay[1]: "25" is not an hour 0 to 23, or a range of them with both ends included such as 9-17`
	if got := meta.FindStatusCondition(s.Status.Conditions, contract.ConditionReady).Message; got != want {
		t.Error(cmp.Diff(want, got))
	}
	seen := countWrites(t, namespace)
	clock.SetTime(instant(t, "2026-06-15T20:00:00Z")) // long closed, had it been readable
	settle(t, namespace)
	if got := seen.untilNow()["desk"]; got != 0 {
		t.Errorf("a spec that nobody edited was written %d times", got)
	}
	edit(t, s, `{"spec":{"timezone":"Europe/Paris","hoursOfDay":["9-17"]}}`)
	awaitClosed(t, s)
}

func TestTheAPIServerRefusesWhatCannotBeRight(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	tests := map[string]string{
		`{timezone: ""}`: "spec.timezone",
		`{windows: [{days: [mon], start: "17:00", end: "17:00"}]}`:                    "spec.windows[0].end: Invalid value: start and end must differ",
		`{windows: [{days: [mon], start: "24:00", end: "17:00"}]}`:                    "spec.windows[0].start",
		`{windows: [{days: [mon], start: "9:00", end: "17:00"}]}`:                     "spec.windows[0].start",
		`{windows: [{days: [], start: "09:00", end: "17:00"}]}`:                       "spec.windows[0].days",
		`{exceptDates: ["2026-6-01"]}`:                                                "spec.exceptDates[0]",
		`{once: [{start: tomorrow, end: "2026-01-01T00:00:00Z"}]}`:                    "spec.once[0].start",
		`{once: [{start: "2026-01-01T00:00:00Z", end: "2025-12-31T23:59:59-00:01"}]}`: "",
		`{once: [{start: "2026-01-01T00:00:00Z", end: "2026-01-01T00:30:00+01:00"}]}`: "spec.once[0].end: Invalid value: end must be after start",
	}
	for spec, want := range tests {
		t.Run(spec, func(t *testing.T) {
			s := schedule(t, namespace, "refused", spec)
			err := devplanetest.Client(t).Create(t.Context(), s, client.DryRunAll)
			switch got := fmt.Sprint(err); {
			case want == "" && err != nil, want != "" && !strings.Contains(strings.ReplaceAll(got, `"string": `, ""), want):
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	s := create(t, devplanetest.Namespace(t), "empty", `{}`)
	if s.Spec.Timezone == nil || *s.Spec.Timezone != "UTC" || s.Spec.Enabled == nil || !*s.Spec.Enabled {
		t.Errorf("got %+v", s.Spec)
	}
}
