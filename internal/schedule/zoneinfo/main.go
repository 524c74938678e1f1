// SPDX-License-Identifier: Apache-2.0

// Command zoneinfo copies the time zone database of the Go distribution that
// runs it into a folder, with its version. Run it by `go generate
// ./internal/schedule` after an update of Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	dataFile    = "zoneinfo.zip"
	versionFile = "VERSION"
)

func main() {
	if err := run(context.Background(), "zoneinfo"); err != nil {
		fmt.Fprintln(os.Stderr, "zoneinfo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder string) error {
	data, version, err := distributed(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, dataFile), data, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, versionFile), []byte(version+"\n"), 0o644)
}

var versionLine = regexp.MustCompile(`(?m)^DATA=(\S+)`)

// distributed returns the zone database of the Go distribution and its version.
func distributed(ctx context.Context) (data []byte, version string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, "", fmt.Errorf("finding the Go distribution: %w", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "lib", "time")
	script, err := os.ReadFile(filepath.Join(folder, "update.bash"))
	if err != nil {
		return nil, "", fmt.Errorf("reading the version of the zone data: %w", err)
	}
	match := versionLine.FindSubmatch(script)
	if match == nil {
		return nil, "", errors.New("lib/time/update.bash of the Go distribution names no version")
	}
	data, err = os.ReadFile(filepath.Join(folder, dataFile))
	if err != nil {
		return nil, "", fmt.Errorf("reading the zone data: %w", err)
	}
	return data, string(match[1]), nil
}
