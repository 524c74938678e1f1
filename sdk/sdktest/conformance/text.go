// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io"
	"strings"
)

// TextWriter writes results for people, each as it comes: pass its Result as
// Options.Progress, and call Summary at the end.
type TextWriter struct {
	out   io.Writer
	group Group
	// skipped is the reason of the last check that was skipped. Many are skipped
	// for one reason, which is told once.
	skipped string
}

// NewTextWriter returns a writer to out.
func NewTextWriter(out io.Writer) *TextWriter { return &TextWriter{out: out} }

// labels are what people read. What asks for attention is in capitals.
var outcomeLabels = map[Outcome]string{Passed: "pass", Failed: "FAIL", Skipped: "skip"}

// Result writes one result: a line, and below it what there is to say. Of a check
// that was left out there is nothing to say.
func (w *TextWriter) Result(r Result) {
	if r.Message == leftOutText {
		return
	}
	if r.Group != w.group {
		if w.group != "" {
			fmt.Fprintln(w.out)
		}
		fmt.Fprintln(w.out, r.Group.title())
		w.group, w.skipped = r.Group, ""
	}
	label := outcomeLabels[r.Outcome]
	if r.Outcome == Failed && r.Level == Recommended {
		label = "note"
	}
	fmt.Fprintf(w.out, "  %s  %-4s %-28s %s\n", label, r.Rule, r.ID, r.Title)
	if r.Outcome == Passed && r.Message == "" || r.Outcome == Skipped && r.Message == w.skipped {
		return
	}
	w.indented("", r.Message)
	if r.Outcome == Skipped {
		w.skipped = r.Message
	}
	if r.Outcome == Failed {
		w.indented("To do: ", r.Advice)
		w.indented("Rule:  ", r.Link)
	}
}

// width is that of the text below a result.
const width = 76

// indented writes words below a result, as many to a line as fit.
func (w *TextWriter) indented(label, text string) {
	const indent = "             "
	line := label
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > width && strings.TrimSpace(line) != "" {
			fmt.Fprintln(w.out, indent+strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(label))
		}
		line += word + " "
	}
	fmt.Fprintln(w.out, indent+strings.TrimRight(line, " "))
}

// Summary writes the score and the outcome.
func (w *TextWriter) Summary(r *Report) {
	fmt.Fprintln(w.out)
	fmt.Fprintf(w.out, "required     %s\n", r.Required)
	fmt.Fprintf(w.out, "recommended  %s\n", r.Recommended)
	fmt.Fprintf(w.out, "\n%s%s: %s\n", r.Kind, r.where(), r.verdict())
}

// where says at which version the kind was worked with, as far as it is known.
func (r *Report) where() string {
	if len(r.Versions) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s, Kubernetes %s)", r.Versions[0], r.Kubernetes)
}

// verdict is the outcome in a sentence.
func (r *Report) verdict() string {
	switch r.Outcome {
	case Passed:
		if r.Required.Skipped > 0 {
			return fmt.Sprintf("passed, but for %d required checks that were skipped.", r.Required.Skipped)
		}
		return "passed. The provider conforms to the contract."
	case Failed:
		return "failed."
	case Skipped: // of a check alone
	case Incomplete:
		return fmt.Sprintf("incomplete. Nothing required failed, but %d required checks were skipped.", r.Required.Skipped)
	}
	return string(r.Outcome)
}

// String returns the count in words.
func (c Count) String() string {
	text := fmt.Sprintf("%d of %d passed", c.Passed, c.Total())
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}
