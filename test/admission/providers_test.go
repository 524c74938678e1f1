// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/calendar"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/capitalmarkets"
	"github.com/fivespot/fivespot/providers/timebased"
)

// texts draws texts that are right, nearly right, and wrong.
func texts(examples ...string) *rapid.Generator[string] {
	blank := rapid.SampledFrom([]string{"", "", " ", "\t", "\u00a0", "\u2003", "\u200b", "\n", "x"})
	return rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom(examples).Draw(t, "text")
		switch rapid.IntRange(0, 8).Draw(t, "change") {
		case 0:
			text = blank.Draw(t, "before") + text + blank.Draw(t, "after")
		case 1:
			join := rapid.SampledFrom([]string{",", "-", "–", "-,"}).Draw(t, "join")
			text += blank.Draw(t, "before") + join + blank.Draw(t, "after") + rapid.SampledFrom(examples).Draw(t, "other")
		case 2:
			i := rapid.IntRange(0, len(text)).Draw(t, "at")
			text = text[:i] + rapid.SampledFrom([]string{"0", "9", "-", "+", ":", "T"}).Draw(t, "put in") + text[i:]
		}
		return text
	})
}

// some draws a list, most often an empty one, so that one fault does not hide all
// others.
func some[T any](item *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just[[]T](nil), rapid.Just[[]T](nil), rapid.SliceOfN(item, 1, 3))
}

var (
	anyDay  = texts("mon", "fri", "sun", "mon-fri", "sat - mon", "Mon", "")
	anyHour = texts("0", "9", "23", "24", "007", "+3", "9-17", "22 - 6", "-1", "00000000000012", "")
	anyDate = rapid.Custom(func(t *rapid.T) string { // most do not exist
		year := rapid.SampledFrom([]string{"0000", "0004", "1900", "2000", "2016", "2024", "2026", "2027", "2028", "2032", "2092", "2100", "2400"}).Draw(t, "year")
		month := rapid.OneOf(rapid.Just(2), rapid.IntRange(0, 13)).Draw(t, "month")
		return fmt.Sprintf("%s-%02d-%02d", year, month, rapid.IntRange(27, 32).Draw(t, "day"))
	})
	anyOpen    = rapid.SampledFrom([]string{"00:00", "09:30", "17:00", "23:59"})
	anyClose   = rapid.SampledFrom([]string{"00:01", "09:31", "17:01", "24:00"})
	anyInstant = rapid.SampledFrom([]string{
		"2026-06-15T20:00:00Z", "2026-06-15T21:00:00+02:00", "2026-06-15T20:00:00.5Z", "2026-06-15T20:00:00.000Z", "2026-06-15t20:00:00z",
		"2026-06-15T20:00:00,0Z", "2026-06-15T20:00:00x0Z", "2026-02-30T00:00:00Z", "2026-06-15T20:00:60Z", "2026-06-15T20:00:00-24:00", "2026-06-15T20:00:00+99:00",
	})
	anyZone = rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Local"})
)

// agrees checks that the API server takes what a provider takes, as far as
// policies decide, and that a provider takes what the API server takes.
func agrees(t *rapid.T, c client.Client, object client.Object, provider error) {
	err := c.Create(t.Context(), object, client.DryRunAll)
	switch {
	case err == nil && provider != nil:
		t.Fatalf("the API server takes it, the provider says: %v", provider)
	case err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") && provider == nil:
		t.Fatalf("the provider takes it, the API server says: %v", err)
	}
}

func TestTimeBasedAgrees(t *testing.T) {
	c := devplanetest.Client(t)
	rapid.Check(t, func(t *rapid.T) {
		s := &v1alpha1.TimeBasedSpotSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "drawn"}}
		s.Spec = v1alpha1.TimeBasedSpotScheduleSpec{
			Timezone:    new(anyZone.Draw(t, "timezone")),
			DaysOfWeek:  some(anyDay).Draw(t, "daysOfWeek"),
			HoursOfDay:  some(anyHour).Draw(t, "hoursOfDay"),
			ExceptDates: some(anyDate).Draw(t, "exceptDates"),
			Windows: some(rapid.Custom(func(t *rapid.T) v1alpha1.TimeWindow {
				days := rapid.SliceOfN(anyDay, 1, 3).Draw(t, "days")
				return v1alpha1.TimeWindow{Days: days, Start: anyOpen.Draw(t, "start"), End: anyClose.Draw(t, "end")}
			})).Draw(t, "windows"),
			Once: some(rapid.Custom(func(t *rapid.T) v1alpha1.TimeInterval {
				return v1alpha1.TimeInterval{Start: anyInstant.Draw(t, "start"), End: "2027-01-01T00:00:00Z"}
			})).Draw(t, "once"),
		}
		_, err := timebased.NewPlan(&s.Spec)
		agrees(t, c, s, err)
	})
}

func TestCapitalMarketsAgrees(t *testing.T) {
	c := devplanetest.Client(t)
	rapid.Check(t, func(t *rapid.T) {
		s := &v1alpha1.CapitalMarketsSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "drawn"}}
		s.Spec = v1alpha1.CapitalMarketsScheduleSpec{
			Exchange: rapid.SampledFrom([]string{"", "", "XNYS", "XLON", "NYSE"}).Draw(t, "exchange"),
			Timezone: new(anyZone.Draw(t, "timezone")),
			Holidays: some(anyDate).Draw(t, "holidays"),
			Sessions: some(rapid.Custom(func(t *rapid.T) v1alpha1.TradingSession {
				session := v1alpha1.TradingSession{DaysOfWeek: some(anyDay).Draw(t, "daysOfWeek")}
				if rapid.Bool().Draw(t, "by hours") {
					session.HoursOfDay = some(anyHour).Draw(t, "hoursOfDay")
					return session
				}
				session.Open, session.Close = anyOpen.Draw(t, "open"), anyClose.Draw(t, "close")
				if rapid.Bool().Draw(t, "the day before") {
					session.OpenDayOffset = new(int32(-1))
				}
				return session
			})).Draw(t, "sessions"),
			SpecialSessions: some(rapid.Custom(func(t *rapid.T) v1alpha1.SpecialSession {
				return v1alpha1.SpecialSession{Date: anyDate.Draw(t, "date"), Open: "10:00", Close: "11:00"}
			})).Draw(t, "specialSessions"),
			EarlyCloses: some(rapid.Custom(func(t *rapid.T) v1alpha1.EarlyClose {
				return v1alpha1.EarlyClose{Date: anyDate.Draw(t, "date"), Close: "13:00"}
			})).Draw(t, "earlyCloses"),
			LateOpens: some(rapid.Custom(func(t *rapid.T) v1alpha1.LateOpen {
				return v1alpha1.LateOpen{Date: anyDate.Draw(t, "date"), Open: "10:00"}
			})).Draw(t, "lateOpens"),
		}
		_, err := capitalmarkets.NewPlan(&s.Spec)
		agrees(t, c, s, err)
	})
}

// The policy names the exchanges that the provider knows.
func TestExchangesAreThoseOfTheProvider(t *testing.T) {
	policy := shipped[admissionregistrationv1.ValidatingAdmissionPolicy](t, "admission/capitalmarketsschedule-validation.yaml", "ValidatingAdmissionPolicy")
	for _, variable := range policy.Spec.Variables {
		if variable.Name != "exchanges" {
			continue
		}
		var listed []string
		for item := range strings.FieldsSeq(strings.Trim(variable.Expression, "[] \n")) {
			listed = append(listed, strings.Trim(item, "',"))
		}
		if !slices.Equal(listed, calendar.MICs()) {
			t.Errorf("the policy lists\n%v\nthe provider knows\n%v", listed, calendar.MICs())
		}
		return
	}
	t.Error("the policy lists no exchanges")
}
