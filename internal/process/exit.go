// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ExitError says that a process has ended.
type ExitError struct {
	// Name is the name of the process.
	Name string
	// State is how it ended, for example "exit status 1" or "signal: killed".
	State string
	// LogPath is the file with its output.
	LogPath string
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("%s ended: %s; its log is %s", e.Name, e.State, e.LogPath)
}

// LogEnd returns the last lines of the log of the process, at most n; fewer if
// the log has fewer, none if it cannot be read.
func (e *ExitError) LogEnd(n int) []string { return tail(e.LogPath, n) }

// maxTail bounds what is read of a log to find its last lines.
const maxTail = 64 << 10

func tail(path string, n int) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	from := max(info.Size()-maxTail, 0)
	content, err := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	if err != nil {
		return nil
	}
	text := strings.TrimRight(string(content), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if from > 0 {
		lines = lines[1:] // begins in the middle of a line
	}
	return lines[max(len(lines)-n, 0):]
}
