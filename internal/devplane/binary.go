// SPDX-License-Identifier: Apache-2.0

package devplane

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

const program = "devplane"

var moduleLine = regexp.MustCompile(`(?m)^module github\.com/fivespot/fivespot\s*$`)

// findBinary returns the path of the program: beside the running executable,
// else in bin/ of the source tree that the working directory is in.
func findBinary() (string, error) {
	if executable, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(executable); err == nil {
			executable = resolved
		}
		if beside := filepath.Join(filepath.Dir(executable), program); isFile(beside) {
			return beside, nil
		}
	}
	root, err := SourceRoot()
	if err != nil {
		return "", err
	}
	built := filepath.Join(root, "bin", program)
	if !isFile(built) {
		return "", fmt.Errorf("%s is not there: run `make build`", built)
	}
	return built, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// SourceRoot returns the root of this project's source tree, found from the
// working directory upwards: modules of their own in it do not count.
func SourceRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", program, err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && moduleLine.Match(content) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("looking for %s: it is neither beside this program nor is %s in the source tree of github.com/fivespot/fivespot", program, start)
		}
	}
}
