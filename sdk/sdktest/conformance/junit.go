// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// The elements of a JUnit report that continuous-integration servers read.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML. A server that reads it takes the
// failures for the run's: so a recommended check that failed is a skipped case
// with the finding as its output, unless the run was strict.
func (r *Report) WriteJUnit(out io.Writer) error {
	suite := junitSuite{
		Name:      "conformance of " + r.Kind,
		Tests:     len(r.Results),
		Time:      junitTime(r.Seconds),
		Timestamp: r.Started.Format(time.RFC3339),
	}
	for _, result := range r.Results {
		suite.add(result, r.Strict)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	_, err := io.WriteString(out, "\n")
	return err
}

func (s *junitSuite) add(r Result, strict bool) {
	entry := junitCase{Class: "conformance." + string(r.Group), Name: r.ID, Time: junitTime(r.Seconds)}
	text := fmt.Sprintf("%s\nTo do: %s\nRule %s: %s", r.Title, r.Advice, r.Rule, r.Link)
	switch {
	case r.Outcome == Skipped:
		entry.Skipped = &junitMessage{Message: r.Message}
		s.Skipped++
	case r.Outcome == Failed && r.Level == Recommended && !strict:
		entry.Skipped = &junitMessage{Message: "recommended, and not so: " + r.Message}
		entry.Output = text
		s.Skipped++
	case r.Outcome == Failed:
		entry.Failure = &junitMessage{Message: r.Message, Type: string(r.Level), Text: text}
		s.Failures++
	}
	s.Cases = append(s.Cases, entry)
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }
