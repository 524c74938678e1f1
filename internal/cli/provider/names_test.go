// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesOfAKind(t *testing.T) {
	tests := map[string]names{
		"TideSchedule":  {"TideSchedule", "tideschedules", "tideschedule", "ts", "v1alpha1", "tide-schedule"},
		"tide-schedule": {"TideSchedule", "tideschedules", "tideschedule", "ts", "v1alpha1", "tide-schedule"},
		"tide":          {"Tide", "tides", "tide", "", "v1alpha1", "tide"},
		"PromQLGate":    {"PromQLGate", "promqlgates", "promqlgate", "pqg", "v1alpha1", "prom-ql-gate"},
		"TradingDay":    {"TradingDay", "tradingdays", "tradingday", "td", "v1alpha1", "trading-day"},
		"BankHoliday2":  {"BankHoliday2", "bankholiday2s", "bankholiday2", "bh", "v1alpha1", "bank-holiday2"},
		"OfficePolicy":  {"OfficePolicy", "officepolicies", "officepolicy", "op", "v1alpha1", "office-policy"},
		"NightWatch":    {"NightWatch", "nightwatches", "nightwatch", "nw", "v1alpha1", "night-watch"},
		"night-bus":     {"NightBus", "nightbuses", "nightbus", "nb", "v1alpha1", "night-bus"},
		// kubectl takes ds for a DaemonSet and ms for a MachineSet.
		"DeskSchedule": {"DeskSchedule", "deskschedules", "deskschedule", "", "v1alpha1", "desk-schedule"},
		// kubectl takes sm for a ScheduledMachine.
		"SeasonMenu": {"SeasonMenu", "seasonmenus", "seasonmenu", "", "v1alpha1", "season-menu"},
		// A short name of the group is served once.
		"CoastalMoonSchedule": {"CoastalMoonSchedule", "coastalmoonschedules", "coastalmoonschedule", "", "v1alpha1", "coastal-moon-schedule"},
		"MoonSchedule":        {"MoonSchedule", "moonschedules", "moonschedule", "", "v1alpha1", "moon-schedule"},
	}
	for name, want := range tests {
		got, err := deriveNames(name, chosen{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNamesThatAnAuthorChose(t *testing.T) {
	got, err := deriveNames("DeskSchedule", chosen{plural: "desks", shortName: "dsk", version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	want := names{"DeskSchedule", "desks", "deskschedule", "dsk", "v1", "desk-schedule"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		name string
		own  chosen
		want string
	}{
		"nothing":                   {"", chosen{}, `"" is no name of a kind`},
		"lower case, then upper":    {"tideSchedule", chosen{}, "give it in CamelCase, as in TideSchedule"},
		"an underscore":             {"Tide_Schedule", chosen{}, "or in words, as in tide-schedule"},
		"a space":                   {"Tide Schedule", chosen{}, "is no name of a kind"},
		"a group":                   {"TideSchedule.example.com", chosen{}, "is no name of a kind"},
		"a path":                    {"../TideSchedule", chosen{}, "is no name of a kind"},
		"a digit first":             {"24HourSchedule", chosen{}, "is no name of a kind"},
		"letters beyond ASCII":      {"ÉtatSchedule", chosen{}, "is no name of a kind"},
		"two hyphens":               {"tide--schedule", chosen{}, "is no name of a kind"},
		"a list":                    {"TideList", chosen{}, "does not end in List"},
		"too long":                  {"T" + strings.Repeat("i", 60), chosen{}, "must be no more than 63 characters"},
		"a plural in upper case":    {"TideSchedule", chosen{plural: "Tides"}, `the plural "Tides" is refused by Kubernetes`},
		"a short name with a dot":   {"TideSchedule", chosen{shortName: "t.s"}, `the short name "t.s" is refused`},
		"a kind that we ship":       {"manual-schedule", chosen{}, "the kind ManualSchedule is taken by ManualSchedule of 5-Spot: choose another one"},
		"the plural of another":     {"HandSchedule", chosen{plural: "manualschedules"}, "the plural manualschedules is taken by ManualSchedule of 5-Spot"},
		"the short name of another": {"HandSchedule", chosen{shortName: "tbss"}, "the short name tbss is taken by TimeBasedSpotSchedule of 5-Spot"},
		"the kind of machines":      {"ScheduledMachine", chosen{}, "the kind ScheduledMachine is taken by ScheduledMachine of 5-Spot"},
		"the short name of those":   {"TideSchedule", chosen{shortName: "sm"}, "the short name sm is taken by ScheduledMachine of 5-Spot"},
		"the short name of a Pod":   {"TideSchedule", chosen{shortName: "po"}, "the short name po is taken by a kind of Kubernetes or Cluster API"},
		"a version with a capital":  {"TideSchedule", chosen{version: "V1"}, `the version "V1" is refused`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := deriveNames(test.name, test.own)
			checkRefused(t, err, test.want)
		})
	}
}
