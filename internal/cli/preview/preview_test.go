// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

func runPreview(t *testing.T, stdin string, args ...string) (output, notes string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	now := time.Date(2026, time.June, 15, 9, 30, 0, 123, time.UTC)
	command := NewCommand(cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errOut}, clocktesting.NewFakePassiveClock(now))
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&errOut)
	command.SilenceErrors, command.SilenceUsage = true, true
	err = command.Execute()
	return out.String(), errOut.String(), err
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestOutputs(t *testing.T) {
	tests := map[string][]string{
		"schedules.table": {"-f", "testdata/schedules.yaml", "--from", "2026-03-06", "--until", "2026-03-10"},
		"schedules.json":  {"-f", "testdata/schedules.yaml", "--from", "2026-03-06T23:30:00Z", "--until", "2026-03-10T13:00:00Z", "-o", "json"},
		"schedules.ics":   {"-f", "testdata/schedules.yaml", "--from", "2026-03-06", "--until", "2026-03-10", "-o", "ics"},
		"schedules.svg":   {"-f", "testdata/schedules.yaml", "--from", "2026-03-02", "--until", "2026-03-16", "-o", "svg"},
		"ending.table":    {"-f", "testdata/ending.yaml", "--from", "2026-12-31", "--until", "2027-01-05"},
		"ending.json":     {"-f", "testdata/ending.yaml", "--from", "2026-12-31T07:00:00Z", "--until", "2027-01-05", "-o", "json"},
		"ending.svg":      {"-f", "testdata/ending.yaml", "--from", "2026-12-31", "--until", "2027-01-05", "-o", "svg"},
		"market.table":    {"-f", "testdata/market.yaml", "--from", "2026-11-25", "--until", "2026-12-01"},
	}
	for golden, args := range tests {
		t.Run(golden, func(t *testing.T) {
			got, notes, err := runPreview(t, "", args...)
			if err != nil || notes != "" {
				t.Fatalf("%v\n%s", err, notes)
			}
			checkGolden(t, golden, got)
		})
	}
}

func TestTheMachinesTimeZoneChangesNothing(t *testing.T) {
	args := []string{"-f", "testdata/schedules.yaml", "--from", "2026-03-06", "--until", "2026-03-10"}
	before := time.Local //nolint:gosmopolitan // What must not matter is set, and set back.
	defer func() { time.Local = before }()
	var outputs []string
	for _, seconds := range []int{0, 20700, -36000} {
		time.Local = time.FixedZone("elsewhere", seconds)
		got, _, err := runPreview(t, "", args...)
		if err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, got)
	}
	if outputs[0] != outputs[1] || outputs[1] != outputs[2] {
		t.Error("the output depends on the machine's time zone")
	}
}

func TestFromIsIncludedAndUntilIsNot(t *testing.T) {
	got, _, err := runPreview(t, "", "-f", "testdata/schedules.yaml", "--name", "trading/nights", "-o", "json",
		"--from", "2026-03-09T13:00:00Z", "--until", "2026-03-09T21:00:00Z")
	want := `{"time":"2026-03-09T13:00:00Z","active":true,"initial":true,"kind":"TimeBasedSpotSchedule","namespace":"trading","name":"nights","reason":"WindowOpen","message":"open; closes Mon 2026-03-09 17:00 EDT"}` + "\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestDefaultsAreNowAndFourteenDays(t *testing.T) {
	got, _, err := runPreview(t, "", "-f", "testdata/schedules.yaml", "--name", "nights", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if !strings.HasPrefix(lines[0], `{"time":"2026-06-15T09:30:00Z","active":false,"initial":true`) {
		t.Errorf("the first line is %s", lines[0])
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, `{"time":"2026-06-28T10:15:00Z","active":false`) {
		t.Errorf("the last line is %s", last)
	}
}

// Others are shown all the same.
func TestWhatIsWrongIsToldAndFails(t *testing.T) {
	got, notes, err := runPreview(t, "", "-f", "testdata/mixed.yaml", "-o", "json")
	if err == nil || err.Error() != "TimeBasedSpotSchedule broken is not shown: its manifest has errors" {
		t.Errorf("got %v", err)
	}
	wantNotes := `testdata/mixed.yaml:6: error: TimeBasedSpotSchedule broken: spec.timezone: "Local" is not an IANA time zone name such as Europe/Berlin or UTC
testdata/mixed.yaml:8: StrangersSchedule theirs is not shown: its verdict does not follow from its manifest
`
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Error(diff)
	}
	want := `{"time":"2026-06-15T09:30:00Z","active":false,"initial":true,"kind":"ManualSchedule","name":"toggle","reason":"Reconciled","message":"manual toggle applied"}` + "\n"
	if got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestATimeThatCannotBeReadIsToldOnce(t *testing.T) {
	_, _, err := runPreview(t, "", "-f", "testdata/schedules.yaml", "--from", "soon")
	want := `--from "soon" is neither an instant such as 2026-03-08T06:30:00Z nor a date such as 2026-03-08`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAMessageOfManyLinesStaysInItsRow(t *testing.T) {
	got, _, err := runPreview(t, `{apiVersion: spotschedules.5spot.finos.org/v1alpha1, kind: ManualSchedule, metadata: {name: a},
  spec: {enabled: true, reason: "first\n\tsecond\e[2J"}}`, "-f", "-")
	if err != nil || !strings.Contains(got, "first second [2J\n") || strings.Count(got, "\n") != 3 {
		t.Errorf("%v\n%q", err, got)
	}
}

func TestBadArgumentsAreRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"output":     {[]string{"-f", "testdata/mixed.yaml", "-o", "png"}, `--output "png" is none of table, json, ics and svg`},
		"from":       {[]string{"-f", "testdata/schedules.yaml", "--from", "yesterday"}, `--from "yesterday" is neither an instant such as 2026-03-08T06:30:00Z nor a date such as 2026-03-08`},
		"order":      {[]string{"-f", "testdata/schedules.yaml", "--from", "2026-03-08T00:00:00Z", "--until", "2026-03-08T00:00:00Z"}, "--until 2026-03-08T00:00:00Z is not after --from 2026-03-08T00:00:00Z"},
		"name":       {[]string{"-f", "testdata/schedules.yaml", "--name", "nobody"}, "there is no schedule nobody in testdata/schedules.yaml"},
		"no file":    {[]string{"-f", "testdata/none.yaml"}, "testdata/none.yaml"},
		"empty file": {[]string{"-f", "-"}, "there is no schedule in -"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, _, err := runPreview(t, "", test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// Another reader of the format finds the same times in it.
func TestTheCalendarReadsBack(t *testing.T) {
	got, _, err := runPreview(t, "", "-f", "testdata/schedules.yaml", "--name", "nights", "--from", "2026-03-06", "--until", "2026-03-10", "-o", "ics")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(got, "\n") != strings.Count(got, "\r\n") {
		t.Error("lines do not end as RFC 5545 wants them to")
	}
	calendar, err := ics.ParseCalendar(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	var times []string
	for _, event := range calendar.Events() {
		start, errStart := event.GetStartAt()
		end, errEnd := event.GetEndAt()
		if err := errors.Join(errStart, errEnd); err != nil {
			t.Fatal(err)
		}
		times = append(times, start.UTC().Format(time.RFC3339)+" "+end.UTC().Format(time.RFC3339))
	}
	want := []string{
		"2026-03-06T14:00:00Z 2026-03-06T22:00:00Z", "2026-03-08T03:30:00Z 2026-03-08T10:15:00Z",
		"2026-03-09T13:00:00Z 2026-03-09T21:00:00Z",
	}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Error(diff)
	}
}

func TestThePictureIsWellFormed(t *testing.T) {
	for _, until := range []string{"2026-03-07", "2027-03-06"} {
		got, _, err := runPreview(t, "", "-f", "testdata/schedules.yaml", "--from", "2026-03-06", "--until", until, "-o", "svg")
		if err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(strings.NewReader(got))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
