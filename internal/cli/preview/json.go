// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// entry is one line of JSON.
type entry struct {
	// Time is when the schedule begins to say this, in UTC.
	Time string `json:"time"`
	// Active is what it says; absent where it says nothing.
	Active *bool `json:"active,omitempty"`
	// Initial marks the state at --from, which need not be a change.
	Initial   bool   `json:"initial,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
}

func printJSON(w io.Writer, timelines []timeline) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for _, line := range timelines {
		for i, stretch := range line.stretches {
			one := entry{
				Time:      stretch.Start.Format(time.RFC3339Nano),
				Initial:   i == 0,
				Kind:      line.Object.Kind,
				Namespace: line.Object.Namespace,
				Name:      line.Object.Name,
				Reason:    stretch.Reason,
				Message:   message(stretch),
			}
			if stretch.Unknown == nil {
				one.Active = &stretch.Active
			}
			if err := encoder.Encode(one); err != nil {
				return fmt.Errorf("writing JSON: %w", err)
			}
		}
	}
	return nil
}
