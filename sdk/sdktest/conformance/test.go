// SPDX-License-Identifier: Apache-2.0

package conformance

import "testing"

// Test runs the checks as subtests, each under its id. A failed required check
// fails its subtest; a failed recommended one logs, and fails too if
// Options.Strict is set; a skipped check is a skipped subtest. The report is what
// [Run] returns.
func Test(t *testing.T, o Options) Report {
	t.Helper()
	s, err := open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range Checks() {
		t.Run(check.ID, func(t *testing.T) {
			result, err := s.judge(t.Context(), &check)
			if err != nil {
				t.Fatal(err)
			}
			tell(t, result, s.options.Strict)
		})
	}
	if err := s.close(t.Context()); err != nil {
		t.Error(err)
	}
	return s.report
}

func tell(t testing.TB, result Result, strict bool) {
	t.Helper()
	switch {
	case result.Outcome == Skipped:
		t.Skip(result.Message)
	case result.Outcome == Failed && (result.Level == Required || strict):
		t.Errorf("%s\n%s\nTo do: %s\nRule %s: %s", result.Title, result.Message, result.Advice, result.Rule, result.Link)
	case result.Outcome == Failed:
		t.Logf("recommended: %s\n%s\nTo do: %s\nRule %s: %s", result.Title, result.Message, result.Advice, result.Rule, result.Link)
	}
}
