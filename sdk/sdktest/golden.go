// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
)

// updateFlag is the name of the flag that writes golden files anew.
const updateFlag = "update"

func init() { //nolint:gochecknoinits // a flag of go test has to be known before the tests begin
	if flag.Lookup(updateFlag) == nil {
		flag.Bool(updateFlag, false, "write the golden files of timelines anew")
	}
}

// Golden compares the record with a file, by custom below testdata, and fails
// the test where they differ. The flag -update, which this package defines, has
// it write the file instead: go test . -update.
func (l *Timeline) Golden(path string) {
	l.t.Helper()
	if set := flag.Lookup(updateFlag); set != nil && set.Value.String() == "true" {
		l.write(path)
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.t.Fatalf("there is no golden file %s yet; go test -%s writes it. The timeline is:\n%s", path, updateFlag, l)
	case err != nil:
		l.t.Fatalf("reading the golden file: %v", err)
	}
	if diff := cmp.Diff(string(want), l.String()); diff != "" {
		l.t.Errorf("the timeline is not that of %s; if it is right, go test -%s writes it anew (-file +timeline):\n%s",
			path, updateFlag, diff)
	}
}

func (l *Timeline) write(path string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatalf("writing the golden file: %v", err)
	}
	if err := os.WriteFile(path, []byte(l.String()), 0o600); err != nil {
		l.t.Fatalf("writing the golden file: %v", err)
	}
}
