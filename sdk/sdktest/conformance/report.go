// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"time"
)

// Format is the version of the results file. It grows by fields; anything else
// gets another number.
const Format = "fivespot-conformance/v1"

// Outcome is how a check, or the whole, ended.
type Outcome string

const (
	// Passed: what has to hold holds.
	Passed Outcome = "passed"
	// Failed: it does not.
	Failed Outcome = "failed"
	// Skipped: a check was not run; its message says why.
	Skipped Outcome = "skipped"
	// Incomplete: nothing that is required failed, and something that is required
	// was skipped. Only the whole can be incomplete.
	Incomplete Outcome = "incomplete"
)

// Result is the outcome of one check.
type Result struct {
	ID      string  `json:"id"`
	Group   Group   `json:"group"`
	Rule    string  `json:"rule"`
	Link    string  `json:"link"`
	Level   Level   `json:"level"`
	Title   string  `json:"title"`
	Outcome Outcome `json:"outcome"`
	// Message says what was seen, or why it was skipped. It may be empty.
	Message string `json:"message,omitempty"`
	// Advice says what to do; present when the check failed.
	Advice string `json:"advice,omitempty"`
	// Seconds is how long the check took, by Options.Clock.
	Seconds float64 `json:"seconds"`
}

// Count sums up the checks of one level.
type Count struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Total returns how many checks there are.
func (c Count) Total() int { return c.Passed + c.Failed + c.Skipped }

// Report is what a run came to. Its JSON is the results file; it names neither
// the cluster nor anything in it but the kind.
type Report struct {
	// Format is the constant of that name.
	Format string `json:"format"`
	// Kind, Group and Versions are the kind, its API group, and the versions that
	// are served, the one that was worked with first. Group and Versions are empty
	// when the kind was not found.
	Kind     string   `json:"kind"`
	Group    string   `json:"group,omitempty"`
	Versions []string `json:"versions,omitempty"`
	// Kubernetes is the version of the API server.
	Kubernetes string `json:"kubernetes"`
	// Started is when the run began, and Seconds how long it took.
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Strict and AllowIncomplete are the options of those names.
	Strict          bool `json:"strict,omitempty"`
	AllowIncomplete bool `json:"allowIncomplete,omitempty"`
	// Outcome is that of the whole.
	Outcome Outcome `json:"outcome"`
	// Required and Recommended are the score.
	Required    Count `json:"required"`
	Recommended Count `json:"recommended"`
	// Results are in the order of [Checks].
	Results []Result `json:"results"`
}

// Failures returns the results that failed.
func (r *Report) Failures() []Result {
	var failures []Result
	for _, result := range r.Results {
		if result.Outcome == Failed {
			failures = append(failures, result)
		}
	}
	return failures
}

// conclude sets the score and the outcome of the whole from the results.
func (r *Report) conclude() {
	r.Required, r.Recommended = Count{}, Count{}
	for _, result := range r.Results {
		count := &r.Recommended
		if result.Level == Required {
			count = &r.Required
		}
		switch result.Outcome {
		case Passed:
			count.Passed++
		case Failed:
			count.Failed++
		default:
			count.Skipped++
		}
	}
	switch {
	case r.Required.Failed > 0, r.Strict && r.Recommended.Failed > 0:
		r.Outcome = Failed
	case r.Required.Skipped > 0 && !r.AllowIncomplete:
		r.Outcome = Incomplete
	default:
		r.Outcome = Passed
	}
}

func ruleLink(rule string) string { return contractURL + "#" + strings.ToLower(rule) }
