// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io"

	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

// The values of --output.
const (
	outputText  = "text"
	outputJSON  = "json"
	outputJUnit = "junit"
)

// write writes what is left to write when the run has ended.
type write func(*conformance.TextWriter, *conformance.Report, io.Writer) error

func writerFor(output string) (write, error) {
	switch output {
	case outputText:
		return func(text *conformance.TextWriter, report *conformance.Report, _ io.Writer) error {
			text.Summary(report)
			return nil
		}, nil
	case outputJSON:
		return func(_ *conformance.TextWriter, report *conformance.Report, out io.Writer) error {
			return report.WriteJSON(out)
		}, nil
	case outputJUnit:
		return func(_ *conformance.TextWriter, report *conformance.Report, out io.Writer) error {
			return report.WriteJUnit(out)
		}, nil
	}
	return nil, fmt.Errorf("--output: there is no %q; it is text, json or junit", output)
}

// list prints the checks, one a line.
func list(out io.Writer) error {
	for _, check := range conformance.Checks() {
		if _, err := fmt.Fprintf(out, "%-26s %-4s %-12s %s\n", check.ID, check.Rule, check.Level, check.Title); err != nil {
			return err
		}
	}
	return nil
}
