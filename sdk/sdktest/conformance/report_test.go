// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sampleReport has one result of every sort.
func sampleReport() Report {
	report := Report{
		Format: Format, Kind: "TideSchedule", Group: "spotschedules.5spot.finos.org", Versions: []string{"v1", "v1beta1"},
		Kubernetes: "v1.37.2", Started: time.Date(2026, time.March, 29, 1, 30, 0, 0, time.UTC), Seconds: 73.125,
	}
	add := func(id string, outcome Outcome, message string, seconds float64) {
		check := find(id)
		result := Result{
			ID: id, Group: check.Group, Rule: check.Rule, Link: check.Link(), Level: check.Level, Title: check.Title,
			Outcome: outcome, Message: message, Seconds: seconds,
		}
		if outcome == Failed {
			result.Advice = check.Advice
		}
		report.Results = append(report.Results, result)
	}
	add("crd-group", Passed, "", 0)
	add("crd-status-subresource", Failed, "v1beta1: there is no status subresource", 0.002)
	add("crd-printer-column", Failed, "v1: no printer column shows .status.active", 0)
	add("account-reads-kind", Skipped, string(givenAccount), 0)
	add("account-writes-status", Skipped, string(givenAccount), 0)
	add("status-appears", Passed, "", 0.25)
	add("idle-quiet", Passed, "215 objects for 1m0s", 62.5)
	add("restart-quiet", Skipped, string(givenRestart), 0)
	add("fivespot-resolves", Failed, `SpotScheduleResolved is False, not True: ProviderNotReady: "<tide>" & ebb`, 10.373)
	report.conclude()
	return report
}

func TestTextOutput(t *testing.T) {
	var out bytes.Buffer
	report := sampleReport()
	text := NewTextWriter(&out)
	for _, result := range report.Results {
		text.Result(result)
	}
	text.Summary(&report)
	golden(t, "report.txt", out.String())
	for line := range strings.Lines(out.String()) {
		if strings.HasSuffix(line, " \n") {
			t.Errorf("a line ends with a space: %q", line)
		}
	}
}

func TestSummaryOfEachOutcome(t *testing.T) {
	for _, outcome := range []Outcome{Passed, Failed, Incomplete} {
		report := Report{Kind: "TideSchedule", Outcome: outcome, Required: Count{Passed: 3, Skipped: 2}, Recommended: Count{Passed: 1}}
		var out bytes.Buffer
		NewTextWriter(&out).Summary(&report)
		golden(t, "summary-"+string(outcome)+".txt", out.String())
	}
	report := Report{Kind: "TideSchedule", Outcome: Passed, Required: Count{Passed: 3}, Recommended: Count{Passed: 1}}
	var out bytes.Buffer
	NewTextWriter(&out).Summary(&report)
	golden(t, "summary-conforms.txt", out.String())
}

func TestResultsFile(t *testing.T) {
	var out bytes.Buffer
	report := sampleReport()
	if err := report.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", out.String())
	var read Report
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, read); diff != "" {
		t.Errorf("what was read is not what was written (-want +got):\n%s", diff)
	}
}

func TestJUnitOutput(t *testing.T) {
	for name, strict := range map[string]bool{"report.xml": false, "report-strict.xml": true} {
		var out bytes.Buffer
		report := sampleReport()
		report.Strict = strict
		if err := report.WriteJUnit(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.String())
	}
}

func TestOutcomeOfTheWhole(t *testing.T) {
	result := func(level Level, outcome Outcome) Result { return Result{Level: level, Outcome: outcome} }
	good := result(Required, Passed)
	tests := map[string]struct {
		results                 []Result
		strict, allowIncomplete bool
		want                    Outcome
	}{
		"all passed":                           {results: []Result{good, result(Recommended, Passed)}, want: Passed},
		"required failed":                      {results: []Result{good, result(Required, Failed)}, want: Failed},
		"required failed and skipped":          {results: []Result{result(Required, Failed), result(Required, Skipped)}, want: Failed},
		"required skipped":                     {results: []Result{good, result(Required, Skipped)}, want: Incomplete},
		"required skipped, and allowed":        {results: []Result{good, result(Required, Skipped)}, allowIncomplete: true, want: Passed},
		"required failed, and skipped allowed": {results: []Result{result(Required, Failed)}, allowIncomplete: true, want: Failed},
		"recommended failed":                   {results: []Result{good, result(Recommended, Failed)}, want: Passed},
		"recommended failed, strictly":         {results: []Result{good, result(Recommended, Failed)}, strict: true, want: Failed},
		"recommended skipped":                  {results: []Result{good, result(Recommended, Skipped)}, strict: true, want: Passed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report := Report{Results: test.results, Strict: test.strict, AllowIncomplete: test.allowIncomplete}
			report.conclude()
			if report.Outcome != test.want {
				t.Errorf("it is %s, want %s", report.Outcome, test.want)
			}
			if got := report.Required.Total() + report.Recommended.Total(); got != len(test.results) {
				t.Errorf("the score is of %d checks, want %d", got, len(test.results))
			}
		})
	}
}
