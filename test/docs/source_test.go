// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// constants returns the values of the string constants of a directory and those
// below it, by name, of which the name begins with prefix. Tests are left out.
func constants(t *testing.T, dir, prefix string) map[string]string {
	t.Helper()
	found := map[string]string{}
	inspect(t, dir, func(node ast.Node) {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return
		}
		for i, name := range spec.Names {
			if !strings.HasPrefix(name.Name, prefix) || i >= len(spec.Values) {
				continue
			}
			if value, ok := text(spec.Values[i]); ok {
				found[name.Name] = value
			}
		}
	})
	return found
}

// metrics returns the names of the metrics that the programs register: written
// out in full, as counter("name", ...) in the controller, or made by the sdk for
// WithMetricsName("name").
func metrics(t *testing.T) []string {
	t.Helper()
	var found []string
	whole := regexp.MustCompile(`^fivespot_[a-z_]*[a-z]$`)
	for _, dir := range []string{"internal/activation", "internal/controller", "internal/shard", "internal/workload", "cmd/controller", "sdk", "providers"} {
		inspect(t, dir, func(node ast.Node) {
			switch node := node.(type) {
			case *ast.CallExpr:
				found = append(found, named(node)...)
			case *ast.BasicLit:
				if value, ok := text(node); ok && whole.MatchString(value) {
					found = append(found, value)
				}
			}
		})
	}
	return found
}

// named returns the metrics that a call names by its first argument.
func named(call *ast.CallExpr) []string {
	if len(call.Args) == 0 {
		return nil
	}
	name, ok := text(call.Args[0])
	if !ok {
		return nil
	}
	switch function := call.Fun.(type) {
	case *ast.Ident:
		if function.Name == "counter" {
			return []string{"fivespot_" + name}
		}
	case *ast.SelectorExpr:
		if function.Sel.Name == "WithMetricsName" {
			return []string{"fivespot_" + name + "_active", "fivespot_" + name + "_transitions_total"}
		}
	}
	return nil
}

func text(node ast.Node) (string, bool) {
	literal, ok := node.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

// inspect visits the syntax of the Go files of a directory and those below it.
func inspect(t *testing.T, dir string, visit func(ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			visit(node)
			return true
		})
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
