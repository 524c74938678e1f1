// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"errors"
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Load loads the packages of the patterns in a directory, and all that they link.
// It returns the packages of the patterns, and all of them by their paths.
func Load(dir string, patterns ...string) (roots []*types.Package, all map[string]*types.Package, err error) {
	loaded, err := packages.Load(&packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
	}, patterns...)
	if err != nil {
		return nil, nil, fmt.Errorf("loading %s: %w", strings.Join(patterns, ", "), err)
	}
	all = map[string]*types.Package{}
	var problems []error
	packages.Visit(loaded, nil, func(pkg *packages.Package) {
		all[pkg.PkgPath] = pkg.Types
		for _, problem := range pkg.Errors {
			problems = append(problems, problem)
		}
	})
	for _, pkg := range loaded {
		roots = append(roots, pkg.Types)
	}
	return roots, all, errors.Join(problems...)
}
