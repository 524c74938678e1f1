// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestTheCopyIsAsNewAsGos(t *testing.T) {
	data, version, err := distributed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(versionFile)
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.TrimSpace(string(text))
	if ours < version { // 2025c < 2026a
		t.Fatalf("the copy is of %s, Go brings %s: run go generate ./internal/schedule", ours, version)
	}
	copied, err := os.ReadFile(dataFile)
	if err != nil {
		t.Fatal(err)
	}
	if ours == version && !bytes.Equal(copied, data) {
		t.Errorf("the copy of %s is not the one that Go brings: run go generate ./internal/schedule", ours)
	}
}
