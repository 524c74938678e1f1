// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, time.June, 15, 9, 0, 0, 0, time.UTC)

func runLint(t *testing.T, stdin string, args ...string) (output string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	command := NewCommand(cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errOut}, clocktesting.NewFakePassiveClock(now))
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&errOut)
	command.SilenceErrors, command.SilenceUsage = true, true
	err = command.Execute()
	return out.String(), err
}

func TestFindings(t *testing.T) {
	tests := map[string]string{
		"wrong.yaml":      "25 errors found",
		"surprising.yaml": "",
		"fine.yaml":       "",
	}
	for file, want := range tests {
		t.Run(file, func(t *testing.T) {
			got, err := runLint(t, "", "-f", filepath.Join("testdata", file))
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != want {
				t.Errorf("error %q, want %q", text, want)
			}
			golden := filepath.Join("testdata", strings.TrimSuffix(file, ".yaml")+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			wanted, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(wanted), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeveralFilesAndStandardInput(t *testing.T) {
	bad := "apiVersion: spotschedules.5spot.finos.org/v1alpha1\nkind: ManualSchedule\nmetadata: {name: x}\nspec: {enabled: 1}\n"
	got, err := runLint(t, bad, "-f", "testdata/fine.yaml", "-f", "-")
	want := "standard input:4: error: ManualSchedule x: spec.enabled: is of type integer where boolean is due\n"
	if err == nil || err.Error() != "1 error found" || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if _, err := runLint(t, "", "-f", "testdata/fine.yaml", "testdata/surprising.yaml"); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfACalendarIsToldAhead(t *testing.T) {
	defer func(before time.Time) { now = before }(now)
	text := "apiVersion: spotschedules.5spot.finos.org/v1alpha1\nkind: CapitalMarketsSchedule\nmetadata: {name: x}\nspec: {exchange: XSHG}\n"
	for at, want := range map[string]string{
		"2026-06-15T00:00:00Z": "",
		"2026-12-01T00:00:00Z": "standard input:4: warning: CapitalMarketsSchedule x: spec.exchange: the calendar of XSHG ends on 2026-12-31; a newer version of 5-Spot may know more\n",
		"2027-01-02T00:00:00Z": "standard input:4: warning: CapitalMarketsSchedule x: spec.exchange: the calendar of XSHG covers ",
	} {
		var err error
		if now, err = time.Parse(time.RFC3339, at); err != nil {
			t.Fatal(err)
		}
		got, err := runLint(t, text, "-f", "-")
		if err != nil || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %v\n%s", at, err, got)
		}
	}
}

func TestAFileThatIsNoManifestIsNamedByLine(t *testing.T) {
	got, err := runLint(t, "a: 1\n b: 2\n", "-f", "-", "testdata/surprising.yaml")
	if err == nil || err.Error() != "1 error found" || !strings.HasPrefix(got, "standard input:2: error: mapping values") {
		t.Errorf("got %v\n%s", err, got)
	}
	if !strings.Contains(got, "testdata/surprising.yaml:7: warning") {
		t.Error("the file after it was not looked at")
	}
	if _, err := runLint(t, "", "-f", "testdata/none.yaml"); err == nil || !strings.Contains(err.Error(), "testdata/none.yaml") {
		t.Errorf("got %v", err)
	}
	if _, err := runLint(t, ""); err == nil {
		t.Error("no file is no error")
	}
}
