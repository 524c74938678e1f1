// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"flag"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/fivespot/fivespot"
	// listings is the directory of the listings.
	listings = "api"
)

// guarded are the packages whose API is listed; those below an internal directory
// are not for others.
var guarded = []string{module + "/api/...", module + "/sdk/..."}

var (
	update       = flag.Bool("update", false, "list what was added")
	incompatible = flag.Bool("incompatible", false, "with -update: list incompatible changes as well")
)

func TestTheAPIIsCompatibleWithItsListing(t *testing.T) {
	listed := readListings(t)
	packages, all := loadTree(t, listed)
	for _, pkg := range packages {
		name := fileOf(pkg.Path())
		now, err := List(pkg)
		if err != nil {
			t.Error(err)
			continue
		}
		was, known := listed[name]
		delete(listed, name)
		switch {
		case now == was:
		case !known && *update:
			write(t, name, now)
		case !known:
			t.Errorf("the package %s is not listed yet; see `go doc ./tools/apidiff`", pkg.Path())
		default:
			compare(t, was, now, pkg, all)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if *update && *incompatible {
			remove(t, name)
			continue
		}
		t.Errorf("a package is gone that is listed in %s", filepath.Join(listings, name))
	}
}

func compare(t *testing.T, was, now string, pkg *types.Package, all map[string]*types.Package) {
	t.Helper()
	changes, err := Compare(was, pkg, all)
	switch {
	case err != nil:
		t.Error(err)
	case len(changes.Incompatible) > 0 && (!*update || !*incompatible):
		t.Errorf("%s changed in a way that may break programs:\n\t%s\nSee `go doc ./tools/apidiff` for what to do.",
			pkg.Path(), strings.Join(changes.Incompatible, "\n\t"))
	case *update:
		write(t, fileOf(pkg.Path()), now)
	case len(changes.Compatible) > 0:
		t.Errorf("%s has additions that are not listed yet:\n\t%s\nList them: cd tools/apidiff && go test . -update",
			pkg.Path(), strings.Join(changes.Compatible, "\n\t"))
	default:
		t.Errorf("%s is not as listed, in a way that the rules do not judge, such as the constraint of a type parameter. "+
			"If no program can break, list it: cd tools/apidiff && go test . -update", pkg.Path())
	}
}

// readListings returns the texts of the listings by their file names.
func readListings(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(listings, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}

// loadTree loads the guarded packages, and whatever the listings import.
func loadTree(t *testing.T, listed map[string]string) (ours []*types.Package, all map[string]*types.Package) {
	t.Helper()
	patterns := slices.Clone(guarded)
	for name, text := range listed {
		imports, err := Imports(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		patterns = append(patterns, imports...)
	}
	slices.Sort(patterns)
	loaded, all, err := Load(root, slices.Compact(patterns)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range loaded {
		below, ok := strings.CutPrefix(pkg.Path(), module+"/")
		guarded := strings.HasPrefix(below, "api/") || below == "sdk" || strings.HasPrefix(below, "sdk/")
		if ok && guarded && !strings.Contains(below+"/", "/internal/") {
			ours = append(ours, pkg)
		}
	}
	if len(ours) < 5 {
		t.Fatalf("found only the packages %v", ours)
	}
	return ours, all
}

// fileOf returns the name of a package's listing.
func fileOf(path string) string {
	return strings.ReplaceAll(strings.TrimPrefix(path, module+"/"), "/", ".") + ".txt"
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(listings, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(listings, name)); err != nil {
		t.Fatal(err)
	}
}
