// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

var update = flag.Bool("update", false, "write the list of checks in the page anew")

const (
	pagePath     = "../../docs/conformance.md"
	contractPath = "../../docs/contract.md"
	beginMark    = "-update` -->\n"
	endMark      = "<!-- end of checks -->"
)

func TestThePageListsTheChecks(t *testing.T) {
	text, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), beginMark)
	list, after, ends := strings.Cut(rest, endMark)
	if !begins || !ends {
		t.Fatal("the page has no place for the checks")
	}
	want := checkTable()
	if *update {
		if err := os.WriteFile(pagePath, []byte(before+beginMark+want+endMark+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("docs/conformance.md is out of date (-want +got):\n%s", diff)
	}
}

// checkTable is the list of the checks in Markdown.
func checkTable() string {
	var table strings.Builder
	table.WriteString("| Check | Rule | Level | What has to hold |\n|---|---|---|---|\n")
	for _, check := range conformance.Checks() {
		fmt.Fprintf(&table, "| <a id=%q></a>`%s` | [%s](contract.md#%s) | %s | %s |\n",
			check.ID, check.ID, check.Rule, strings.ToLower(check.Rule), check.Level, check.Title)
	}
	return table.String()
}

// A check asks for no more than its rule does.
func TestLevelsAreThoseOfTheContract(t *testing.T) {
	contract, err := os.ReadFile(contractPath)
	if err != nil {
		t.Fatal(err)
	}
	levels := map[string]string{}
	for line := range strings.Lines(string(contract)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if _, number, is := strings.Cut(cells[0], "></a>"); is {
			levels[number] = strings.TrimSuffix(cells[len(cells)-1], " |")
		}
	}
	for _, check := range conformance.Checks() {
		level, known := levels[check.Rule]
		if !known {
			t.Errorf("%s points to the rule %s, which the contract does not have", check.ID, check.Rule)
		}
		if check.Level == conformance.Required && level != "required" {
			t.Errorf("%s is required, and the rule %s is %s", check.ID, check.Rule, level)
		}
	}
}
