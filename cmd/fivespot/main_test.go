// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/internal/cli"
)

func TestExitStatus(t *testing.T) {
	tests := map[string]struct {
		err    error
		status int
		text   string
	}{
		"any error":                  {errors.New("no such file"), 1, "fivespot: no such file\n"},
		"an error with a status":     {&cli.StatusError{Status: 2, Err: errors.New("no cluster")}, 2, "fivespot: no cluster\n"},
		"within another":             {fmt.Errorf("checking: %w", &cli.StatusError{Status: 2, Err: errors.New("no cluster")}), 2, "fivespot: no cluster\n"},
		"what has been told already": {&cli.StatusError{Status: 3}, 3, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var told strings.Builder
			if status := tell(test.err, &told); status != test.status || told.String() != test.text {
				t.Errorf("got %d and %q, want %d and %q", status, told.String(), test.status, test.text)
			}
		})
	}
}
