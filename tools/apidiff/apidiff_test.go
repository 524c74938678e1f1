// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

const tides = "example.com/tides"

// compile makes a package of source text that imports the standard library only.
func compile(t *testing.T, text string) *types.Package {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "tides.go", "package tides\n"+text, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	pkg, err := config.Check(tides, files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func TestWhatBreaksProgramsAndWhatDoesNot(t *testing.T) {
	tests := []struct {
		name, was, now           string
		incompatible, compatible string // what the one change mentions
	}{
		{name: "nothing changed", was: `func High() bool { return true }`, now: `func High() bool { return false }`},
		{name: "a function is added", now: `func High() {}`, compatible: "High: added"},
		{name: "a function goes", was: `func High() {}`, incompatible: "High: removed"},
		{name: "a function changes", was: `func High() {}`, now: `func High(metres int) {}`, incompatible: "High: changed"},
		{name: "a field is added", was: `type Tide struct { High int }`, now: `type Tide struct { High, Low int }`, compatible: "Tide.Low: added"},
		{name: "a field goes", was: `type Tide struct { High, Low int }`, now: `type Tide struct { High int }`, incompatible: "Tide.Low: removed"},
		{
			name: "a field is added where others have fields of their own", was: `type Tide struct { High, low int }`,
			now: `type Tide struct { High, Low, low int }`, compatible: "Tide.Low: added",
		},
		{
			name: "unexported fields change", was: `type Tide struct { High, low int }`, now: `type Tide struct { High int; depth string }`,
		},
		{
			name: "a struct cannot be compared any more", was: `type Tide struct { High, low int }`,
			now: `type Tide struct { High int; low []int }`, incompatible: "Tide: old is comparable, new is not",
		},
		{name: "a method is added", was: `type Tide int`, now: `type Tide int; func (Tide) High() {}`, compatible: "Tide.High: added"},
		{
			name: "a method goes", was: `type Tide int; func (*Tide) High() {}`, now: `type Tide int`,
			incompatible: "(*Tide).High: removed",
		},
		{
			name: "an interface gets a method", was: `type Gauge interface { High() }`, now: `type Gauge interface { High(); Low() }`,
			incompatible: "Gauge.Low: added",
		},
		{
			name: "an interface that nobody else implements gets a method", was: `type Gauge interface { High(); own() own }; type own int`,
			now: `type Gauge interface { High(); Low(); own() own }; type own int`, compatible: "Gauge.Low: added",
		},
		{name: "a constant changes", was: `const Reason = "High"`, now: `const Reason = "Low"`, incompatible: "Reason: value changed"},
		{name: "a variable changes its type", was: `var High int`, now: `var High string`, incompatible: "High: changed"},
		{
			name: "a generic function changes a parameter", was: `func High[T any](T) {}`,
			now: `func High[T any]([]T) {}`, incompatible: "High: changed",
		},
		{
			name: "an option that is a function of something unexported", was: `type Option func(*own); type own struct{ x int }`,
			now: `type Option func(*own); type own struct{ y []string }`,
		},
		{
			name: "a generic type with methods", was: `type Tide[T any] struct { Level T }; func (t *Tide[T]) Get(at map[string][]Tide[T]) (T, error) { return t.Level, nil }`,
			now:        `type Tide[T any] struct { Level T }; func (t *Tide[T]) Get(at map[string][]Tide[T]) (T, error) { return t.Level, nil }; func (t *Tide[T]) Put(T) {}`,
			compatible: "Tide[T]).Put: added",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			listing, err := List(compile(t, test.was))
			if err != nil {
				t.Fatal(err)
			}
			changes, err := Compare(listing, compile(t, test.now), nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, listing)
			}
			for _, side := range []struct {
				got  []string
				want string
			}{{changes.Incompatible, test.incompatible}, {changes.Compatible, test.compatible}} {
				switch {
				case side.want == "" && len(side.got) == 0:
				case side.want == "" || len(side.got) != 1 || !strings.Contains(side.got[0], side.want):
					t.Errorf("got %q, want %q; the listing:\n%s", side.got, side.want, listing)
				}
			}
		})
	}
}

func TestWhatTheRulesDoNotJudgeShowsInTheListing(t *testing.T) {
	was, err := List(compile(t, `func High[T any](T) {}`))
	if err != nil {
		t.Fatal(err)
	}
	now, err := List(compile(t, `func High[T comparable](T) {}`))
	if err != nil {
		t.Fatal(err)
	}
	if was == now {
		t.Errorf("a constraint is not listed:\n%s", now)
	}
}

func TestPackagesOfTheSameNameAreToldApart(t *testing.T) {
	pkg := compile(t, `
import "text/template"
import html "html/template"
func Both(template.Template, html.Template, template.Template) {}`)
	listing, err := List(pkg)
	if err != nil {
		t.Fatal(err)
	}
	imports, err := Imports(listing)
	if err != nil || !slices.Equal(imports, []string{"html/template", "text/template"}) {
		t.Errorf("imports %q, %v", imports, err)
	}
	packages := map[string]*types.Package{}
	for _, imported := range pkg.Imports() {
		packages[imported.Path()] = imported
	}
	changes, err := Compare(listing, pkg, packages)
	if err != nil || fmt.Sprint(changes) != "{[] []}" {
		t.Errorf("changes %v, %v\n%s", changes, err, listing)
	}
	if _, err := Compare(listing, pkg, nil); err == nil || !strings.Contains(err.Error(), "there is no package") {
		t.Errorf("without the packages: %v", err)
	}
}
