// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"cmp"
	"fmt"
	"go/constant"
	"go/format"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// List returns the exported API of a package as a Go file of declarations
// without bodies. What is unexported shows only as far as it matters to those
// who use the package: an unexported type where something exported mentions it,
// and that a struct has unexported fields.
func List(pkg *types.Package) (string, error) {
	l := &listing{pkg: pkg, names: map[string]string{}, mentioned: map[*types.TypeName]bool{}}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if object := scope.Lookup(name); object.Exported() {
			if err := l.declare(object); err != nil {
				return "", fmt.Errorf("listing %s of %s: %w", name, pkg.Path(), err)
			}
		}
	}
	l.declareMentioned()
	text := "package " + pkg.Name() + "\n\n" + l.imports() + l.text.String()
	formatted, err := format.Source([]byte(text))
	if err != nil {
		return "", fmt.Errorf("formatting the listing of %s: %w\n%s", pkg.Path(), err, text)
	}
	return string(formatted), nil
}

type listing struct {
	pkg  *types.Package
	text strings.Builder
	// names are those of imported packages in the listing, by their paths.
	names map[string]string
	// mentioned are unexported types of the package that a declaration mentions;
	// true once they are declared.
	mentioned map[*types.TypeName]bool
}

func (l *listing) declare(object types.Object) error {
	switch object := object.(type) {
	case *types.Const:
		return l.declareConst(object)
	case *types.Var:
		l.line("var %s %s", object.Name(), l.typed(object.Type()))
	case *types.Func:
		l.line("func %s%s", object.Name(), l.signature(object))
	case *types.TypeName:
		l.declareType(object)
	default:
		return fmt.Errorf("it is a %T, of which nothing is known here", object)
	}
	return nil
}

func (l *listing) line(format string, args ...any) {
	fmt.Fprintf(&l.text, format+"\n\n", args...)
}

func (l *listing) declareConst(object *types.Const) error {
	value := object.Val()
	if kind := value.Kind(); kind == constant.Float || kind == constant.Complex || kind == constant.Unknown {
		return fmt.Errorf("a constant of the kind %s is not supported", kind)
	}
	of := ""
	if basic, ok := object.Type().(*types.Basic); !ok || basic.Info()&types.IsUntyped == 0 {
		of = " " + l.typed(object.Type())
	}
	l.line("const %s%s = %s", object.Name(), of, value.ExactString())
	return nil
}

func (l *listing) declareType(object *types.TypeName) {
	l.mentioned[object] = true
	named, ok := object.Type().(*types.Named)
	if object.IsAlias() || !ok {
		l.line("type %s = %s", object.Name(), l.typed(types.Unalias(object.Type())))
		return
	}
	l.line("type %s%s %s", object.Name(), l.parameters(named.TypeParams()), l.underlying(object, named.Underlying()))
	methods := slices.SortedFunc(named.Methods(), func(a, b *types.Func) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, method := range methods {
		if method.Exported() {
			l.line("func (%s) %s%s", l.typed(method.Signature().Recv().Type()), method.Name(), l.signature(method))
		}
	}
}

// declareMentioned declares the unexported types that were mentioned, and those
// that their declarations mention.
func (l *listing) declareMentioned() {
	for {
		missing := slices.SortedFunc(maps.Keys(l.mentioned), func(a, b *types.TypeName) int { return cmp.Compare(a.Name(), b.Name()) })
		missing = slices.DeleteFunc(missing, func(name *types.TypeName) bool { return l.mentioned[name] })
		if len(missing) == 0 {
			return
		}
		l.declareType(missing[0])
	}
}

// underlying spells what a type is made of.
func (l *listing) underlying(name *types.TypeName, of types.Type) string {
	fields, ok := of.(*types.Struct)
	if !ok {
		return l.typed(of)
	}
	var text strings.Builder
	text.WriteString("struct {\n")
	hidden := false
	for i := range fields.NumFields() {
		field := fields.Field(i)
		switch {
		case !field.Exported():
			hidden = true
			continue
		case !field.Embedded():
			text.WriteString(field.Name() + " ")
		}
		text.WriteString(l.typed(field.Type()))
		if tag := fields.Tag(i); tag != "" {
			text.WriteString(" `" + tag + "`")
		}
		text.WriteString("\n")
	}
	switch {
	case hidden && types.Comparable(fields) && name.Exported():
		text.WriteString("_ int // unexported fields\n")
	case hidden: // nobody compares values of a type that has no name for them
		text.WriteString("_ func() // unexported fields\n")
	}
	return text.String() + "}"
}

func (l *listing) signature(function *types.Func) string {
	signature := function.Signature()
	withoutReceiver := types.NewSignatureType(nil, nil, nil, signature.Params(), signature.Results(), signature.Variadic())
	return l.parameters(signature.TypeParams()) + strings.TrimPrefix(l.typed(withoutReceiver), "func")
}

func (l *listing) parameters(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var parameters []string
	for parameter := range list.TypeParams() {
		parameters = append(parameters, parameter.Obj().Name()+" "+l.typed(parameter.Constraint()))
	}
	return "[" + strings.Join(parameters, ", ") + "]"
}

// typed spells a type as the listing's imports have it.
func (l *listing) typed(of types.Type) string {
	l.mention(of, map[types.Type]bool{})
	return types.TypeString(of, l.qualify)
}

// mention takes note of the package's unexported types within a type.
func (l *listing) mention(of types.Type, seen map[types.Type]bool) {
	if seen[of] {
		return
	}
	seen[of] = true
	if named, ok := of.(*types.Named); ok {
		for argument := range named.TypeArgs().Types() {
			l.mention(argument, seen)
		}
		name := named.Origin().Obj()
		if _, known := l.mentioned[name]; !known && name.Pkg() == l.pkg && !name.Exported() {
			l.mentioned[name] = false
		}
		return
	}
	for _, part := range parts(of) {
		l.mention(part, seen)
	}
}

// parts returns the types that a type literal is made of.
func parts(of types.Type) []types.Type {
	switch of := of.(type) {
	case *types.Map:
		return []types.Type{of.Key(), of.Elem()}
	case interface{ Elem() types.Type }: // a pointer, a slice, an array, a channel
		return []types.Type{of.Elem()}
	case *types.Signature:
		return append(variables(of.Params()), variables(of.Results())...)
	case *types.Struct:
		var fields []types.Type
		for field := range of.Fields() {
			fields = append(fields, field.Type())
		}
		return fields
	case *types.Interface:
		var within []types.Type
		for method := range of.ExplicitMethods() {
			within = append(within, method.Type())
		}
		for embedded := range of.EmbeddedTypes() {
			within = append(within, embedded)
		}
		return within
	}
	return nil
}

func variables(tuple *types.Tuple) []types.Type {
	var all []types.Type
	for variable := range tuple.Variables() {
		all = append(all, variable.Type())
	}
	return all
}

// versionElement is the last element of a path that says little by itself.
var versionElement = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// qualify returns the name of a package in the listing.
func (l *listing) qualify(pkg *types.Package) string {
	if pkg == l.pkg {
		return ""
	}
	if name, known := l.names[pkg.Path()]; known {
		return name
	}
	name := pkg.Name()
	if versionElement.MatchString(path.Base(pkg.Path())) {
		name = path.Base(path.Dir(pkg.Path())) + name
	}
	for slices.Contains(slices.Collect(maps.Values(l.names)), name) {
		name += "x"
	}
	l.names[pkg.Path()] = name
	return name
}

func (l *listing) imports() string {
	var text strings.Builder
	for _, imported := range slices.Sorted(maps.Keys(l.names)) {
		name := l.names[imported] + " "
		if name == path.Base(imported)+" " {
			name = ""
		}
		fmt.Fprintf(&text, "import %s%q\n", name, imported)
	}
	return text.String() + "\n"
}
