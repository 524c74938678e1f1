// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/exp/apidiff"
)

// Imports returns the paths that a listing imports.
func Imports(listing string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", listing, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("reading a listing: %w", err)
	}
	var paths []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("reading a listing: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Changes are the differences between a listing and a package.
type Changes struct {
	// Incompatible are those by which a program may not compile any more.
	Incompatible []string
	// Compatible are additions.
	Compatible []string
}

// Compare returns what changed since a package was listed. What the listing
// imports is taken from packages, by its path.
func Compare(listing string, now *types.Package, packages map[string]*types.Package) (Changes, error) {
	was, err := check(listing, now.Path(), packages)
	if err != nil {
		return Changes{}, fmt.Errorf("reading the listing of %s: %w", now.Path(), err)
	}
	var changes Changes
	for _, change := range apidiff.Changes(was, now).Changes {
		if change.Compatible {
			changes.Compatible = append(changes.Compatible, change.Message)
		} else {
			changes.Incompatible = append(changes.Incompatible, change.Message)
		}
	}
	changes.Compatible = slices.Compact(changes.Compatible)
	changes.Incompatible = slices.Compact(changes.Incompatible)
	return changes, nil
}

// check makes a package of a listing.
func check(listing, path string, packages map[string]*types.Package) (*types.Package, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, listing, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			function.Body = &ast.BlockStmt{} // a generic function has to have one
		}
	}
	config := types.Config{IgnoreFuncBodies: true, Importer: imported(packages)}
	return config.Check(path, files, []*ast.File{file}, nil)
}

type imported map[string]*types.Package

// Import implements types.Importer.
func (i imported) Import(path string) (*types.Package, error) {
	if pkg := i[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("there is no package %s", path)
}
