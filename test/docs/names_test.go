// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// topLevel are the directories that a quoted path may begin with.
var topLevel = regexp.MustCompile(`^(api|build|calendar|cmd|deploy|devplane|docs|examples|internal|providers|sdk|test|tools)/[A-Za-z0-9_./-]*$`)

func TestQuotedPathsExist(t *testing.T) {
	for _, p := range pages(t) {
		for _, quoted := range p.quoted() {
			if !topLevel.MatchString(quoted) {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, quoted)); err != nil {
				t.Errorf("%s quotes %s, which does not exist", p.name, quoted)
			}
		}
	}
}

func TestQuotedFlagsExist(t *testing.T) {
	help := readPage(t, "docs/reference/cli.md")
	known := map[string]bool{"--help": true, "--for": true, "--cascade": true} // kubectl's
	flag := regexp.MustCompile(`(?m)^\s+(?:-\w, )?--?([a-z][a-z-]+)\b`)
	for _, b := range help.blocks {
		for _, match := range flag.FindAllStringSubmatch(b.text, -1) {
			known["--"+match[1]] = true
		}
	}
	if len(known) < 10 {
		t.Fatalf("found only the flags %v", known)
	}
	mentioned := regexp.MustCompile(`^--[a-z-]+`)
	ours := regexp.MustCompile(`bin/fivespot[^|#\n]*`)
	for _, p := range pages(t) {
		for _, quoted := range p.quoted() {
			if name := mentioned.FindString(quoted); name != "" && !known[name] {
				t.Errorf("%s mentions the flag %s, which no command has", p.name, quoted)
			}
		}
		for _, b := range p.blocks {
			for word := range strings.FieldsSeq(strings.Join(ours.FindAllString(b.text, -1), " ")) {
				if name := mentioned.FindString(word); name != "" && !known[name] {
					t.Errorf("%s uses fivespot with %s, which it does not have", p.name, word)
				}
			}
		}
	}
}

func TestMetricsAreThoseOfTheProgram(t *testing.T) {
	registered := metrics(t)
	if len(registered) < 5 {
		t.Fatalf("found only the metrics %v", registered)
	}
	reference := readPage(t, "docs/reference/metrics.md")
	listed := reference.quoted()
	for _, name := range registered {
		if !slices.Contains(listed, name) {
			t.Errorf("docs/reference/metrics.md does not list %s", name)
		}
	}
	for _, p := range pages(t) {
		for _, quoted := range p.quoted() {
			name, _, _ := strings.Cut(quoted, "{")
			if strings.HasPrefix(name, "fivespot_") && !strings.Contains(name, "<") && !slices.Contains(registered, name) {
				t.Errorf("%s mentions the metric %s, which does not exist", p.name, name)
			}
		}
	}
}

func TestEveryAlertIsExplained(t *testing.T) {
	troubleshooting := readPage(t, "docs/troubleshooting.md")
	explained := troubleshooting.quoted()
	alerts := regexp.MustCompile(`(?m)^\s*- alert: (\w+)$`).FindAllStringSubmatch(read(t, "deploy/monitoring/prometheusrule.yaml"), -1)
	if len(alerts) == 0 {
		t.Fatal("found no alerts")
	}
	for _, match := range alerts {
		if !slices.Contains(explained, match[1]) {
			t.Errorf("docs/troubleshooting.md has no entry for the alert %s", match[1])
		}
	}
}

func TestRuleNumbersOfTheContractAreUnique(t *testing.T) {
	contract := readPage(t, "docs/contract.md")
	defined := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^\| <a id="c[0-9]+"></a>(C[0-9]+) \|`).FindAllStringSubmatch(contract.prose, -1) {
		if defined[match[1]] {
			t.Errorf("docs/contract.md has two rules %s", match[1])
		}
		defined[match[1]] = true
		if anchor := strings.ToLower(match[1]); !contract.anchors[anchor] {
			t.Errorf("docs/contract.md has no anchor %s", anchor)
		}
	}
	if len(defined) == 0 {
		t.Fatal("found no rules")
	}
	for _, p := range pages(t) {
		for _, rule := range regexp.MustCompile(`\bC[0-9]+\b`).FindAllString(p.prose, -1) {
			if !defined[rule] {
				t.Errorf("%s mentions rule %s, which the contract does not have", p.name, rule)
			}
		}
	}
}

func TestReadmeNamesTheTwoCommands(t *testing.T) {
	readme := read(t, "README.md")
	for _, command := range []string{"make demo", "make test"} {
		if !strings.Contains(readme, command) {
			t.Errorf("README.md does not name `%s`", command)
		}
	}
}
