// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The messages in the tables of docs/admission.md are those of the golden files,
// all of them and no others.
func TestDocumentedMessages(t *testing.T) {
	documented := documentedMessages(t)
	used := make([]bool, len(documented))
	for _, refusal := range goldenRefusals(t) {
		found := false
		for i, message := range documented {
			if message.MatchString(refusal) {
				found, used[i] = true, true
			}
		}
		if !found {
			t.Errorf("docs/admission.md does not tell of: %s", refusal)
		}
	}
	for i, message := range documented {
		if !used[i] {
			t.Errorf("docs/admission.md tells of a message that nobody gets: %s", message)
		}
	}
}

// documentedMessages are the quoted texts of the last column of the tables whose
// last column is Message, as patterns.
func documentedMessages(t *testing.T) []*regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile("../../docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`[^`]+`")
	var messages []*regexp.Regexp
	inTable := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasSuffix(line, "| Message |"):
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable:
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for _, message := range quoted.FindAllString(cells[len(cells)-1], -1) {
				pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.Trim(message, "`")), "…", ".+")
				messages = append(messages, regexp.MustCompile(pattern))
			}
		}
	}
	if len(messages) < 20 {
		t.Fatalf("docs/admission.md has only %d messages", len(messages))
	}
	return messages
}

// goldenRefusals are the lines of the golden files that say what is refused.
func goldenRefusals(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) < 4 {
		t.Fatalf("found only the golden files %v (%v)", files, err)
	}
	var refusals []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "4") {
				refusals = append(refusals, strings.TrimSpace(line))
			}
		}
	}
	return refusals
}
