// SPDX-License-Identifier: Apache-2.0

package calendars

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

var update = flag.Bool("update", false, "write the golden files")

func run(args ...string) (string, error) {
	var out bytes.Buffer
	now := time.Date(2026, time.November, 26, 12, 0, 0, 0, time.UTC)
	command := NewCommand(cli.Streams{Out: &out, Err: &out}, clocktesting.NewFakePassiveClock(now))
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&out)
	command.SilenceUsage, command.SilenceErrors = true, true
	err := command.Execute()
	return out.String(), err
}

func TestWhatPeopleRead(t *testing.T) {
	for name, args := range map[string][]string{
		"exchanges":      {},
		"exchanges-json": {"-o", "json"},
		"XNYS-2027":      {"XNYS", "--year", "2027"},
		"XNYS-this-year": {"xnys"},
		"XTKS-2024":      {"XTKS", "--year", "2024"},
		"XTAE-2026":      {"XTAE", "--year=2026"},
		"XBOM-2024-json": {"XBOM", "--year", "2024", "-o", "json"},
		"XHKG-2027":      {"XHKG", "--year", "2027"},
		"CMES-2026":      {"CMES"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := run(args...)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("run with -update to accept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"XABC"}, `there is no calendar of "XABC"; known are BVMF, CMES`},
		{[]string{"XSHG", "--year", "2027"}, "the calendar of XSHG ends on 2026-12-31: 2027 is not known"},
		{[]string{"XSAU", "--year", "2020"}, "the calendar of XSAU begins on 2021-01-01: 2020 is not known"},
		{[]string{"XNYS", "-o", "xml"}, `--output "xml": give table or json`},
		{[]string{"XNYS", "XLON"}, "accepts at most 1 arg"},
	} {
		if _, err := run(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.args, err, c.want)
		}
	}
}
