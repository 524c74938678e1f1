// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// An image without files, as the scaffold makes it, has no list of time zones.
func TestAProgramBringsTheTimeZones(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if !slices.Contains(strings.Fields(string(output)), "time/tzdata") {
		t.Error("time.LoadLocation fails where the machine has no time zones")
	}
}
