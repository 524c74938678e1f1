// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/fivespot/fivespot/internal/cli/manifest"
	"github.com/fivespot/fivespot/internal/cli/offline"
)

// Finding is one thing to say about an object.
type Finding struct {
	// Object is what it is about.
	Object *manifest.Object
	// Path leads to the field; empty where the object as a whole is meant.
	Path string
	// Warning is true for what is accepted and surprises.
	Warning bool
	// Text says what there is to say.
	Text string
}

// String returns file, line, object, field and text in one line.
func (f Finding) String() string {
	severity := "error"
	if f.Warning {
		severity = "warning"
	}
	line := fmt.Sprintf("%s:%d: %s: %s: ", f.Object.File, f.Object.Line(f.Path), severity, f.Object)
	if f.Path != "" {
		line += f.Path + ": "
	}
	return line + f.Text
}

// Findings are in the order of the lines they are about.
type Findings []Finding

// Errors returns how many are no warnings.
func (f Findings) Errors() int {
	count := 0
	for _, finding := range f {
		if !finding.Warning {
			count++
		}
	}
	return count
}

// Check returns what there is to say about an object; nothing where it is none of
// 5-Spot's. What lies before now is past.
func Check(object *manifest.Object, now time.Time) (Findings, error) {
	problems, unknown, err := offline.Problems(object)
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", object, err)
	}
	var found Findings
	if unknown != "" {
		found = append(found, Finding{Object: object, Path: "kind", Warning: true, Text: unknown})
	}
	for _, problem := range problems {
		found = append(found, Finding{Object: object, Path: problem.Path, Text: problem.Text})
	}
	if len(problems) == 0 {
		found = append(found, surprises(object, now)...)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return object.Line(a.Path) - object.Line(b.Path) })
	return found, nil
}
