// SPDX-License-Identifier: Apache-2.0

package processtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Children returns the ids of the processes whose parent is pid, by the name of
// the program and, where that has one, its argument --kinds: "provider --kinds=A".
func Children(t testing.TB, pid int) map[string]int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	children := map[string]int{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile
		}
		if name, parent := parseStat(content); parent == pid {
			child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			children[name+kinds(child)] = child
		}
	}
	return children
}

// kinds returns the argument of a process that tells it from others of its
// program, after a space; empty if it has none or has ended.
func kinds(pid int) string {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	for argument := range strings.SplitSeq(string(line), "\x00") {
		if strings.HasPrefix(argument, "--kinds=") {
			return " " + argument
		}
	}
	return ""
}

// parseStat reads the name, which is in parentheses and may hold any character,
// and the parent, which is the second field after it.
func parseStat(stat []byte) (name string, parent int) {
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return "", 0
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 2 {
		return "", 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return "", 0
	}
	return string(stat[begin+1 : end]), parent
}
