// SPDX-License-Identifier: Apache-2.0

package up

import (
	"fmt"
	"os"
	"path/filepath"
)

// DirUsage says what the flag --dir is for.
const DirUsage = "directory for data, credentials and logs (default $XDG_STATE_HOME/fivespot, which is ~/.local/state/fivespot unless set)"

// defaultDir returns the directory for state of the XDG Base Directory
// Specification: https://specifications.freedesktop.org/basedir-spec/latest/
func defaultDir() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) { // others are to be ignored
		return filepath.Join(state, "fivespot"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding a directory to keep data in: %w; name one with --dir", err)
	}
	return filepath.Join(home, ".local", "state", "fivespot"), nil
}
