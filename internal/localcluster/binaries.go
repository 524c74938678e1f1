// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const module = "github.com/fivespot/fivespot"

// findBinaries returns the directory of Options.Binaries when that is empty.
func findBinaries() (string, error) {
	if executable, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(executable); err == nil {
			executable = resolved
		}
		dir := filepath.Dir(executable)
		if _, err := os.Stat(filepath.Join(dir, "devplane")); err == nil {
			return dir, nil
		}
	}
	root, err := sourceRoot()
	if err != nil {
		return "", fmt.Errorf("looking for the programs that this one starts: %w", err)
	}
	return filepath.Join(root, "bin"), nil
}

// sourceRoot returns the root of the source tree that the working directory is in.
func sourceRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if moduleOf(dir) == module {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("they are neither beside this program nor is %s in the source tree of %s", start, module)
		}
	}
}

// moduleOf returns the path of the module whose root dir is, empty if it is none.
func moduleOf(dir string) string {
	file, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if path, found := strings.CutPrefix(scanner.Text(), "module "); found {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

// checkBinaries returns an error that names the first program that is not there.
func checkBinaries(dir string, names ...string) error {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s is not there: run `make build`", path)
		}
	}
	return nil
}
