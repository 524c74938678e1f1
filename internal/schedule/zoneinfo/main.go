// SPDX-License-Identifier: Apache-2.0

// Command zoneinfo copies the time zone database of the Go distribution that
// runs it into this folder, with its version. Run it by `go generate
// ./internal/schedule` after an update of Go.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run("zoneinfo"); err != nil {
		fmt.Fprintln(os.Stderr, "zoneinfo:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("find the Go distribution: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "lib", "time")
	script, err := os.ReadFile(filepath.Join(source, "update.bash"))
	if err != nil {
		return fmt.Errorf("read the version of the zone data: %w", err)
	}
	version := regexp.MustCompile(`(?m)^DATA=(\S+)`).FindSubmatch(script)
	if version == nil {
		return fmt.Errorf("no version of the zone data in %s", filepath.Join(source, "update.bash"))
	}
	data, err := os.ReadFile(filepath.Join(source, "zoneinfo.zip"))
	if err != nil {
		return fmt.Errorf("read the zone data: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "zoneinfo.zip"), data, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "VERSION"), append(version[1], '\n'), 0o644)
}
