// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/template"

	"golang.org/x/mod/modfile"
	"sigs.k8s.io/yaml"
)

// The versions that a provider's module is made with: those of this repository.
const (
	goVersion       = "1.26.0"
	controllerTools = "v0.23.0"
)

// scaffold is what the files of a provider are made of.
type scaffold struct {
	names
	Module    string // path of the Go module
	Namespace string // in which the provider runs
	Image     string // without a tag
	SDK       sdk
}

// Account returns the name of the provider's service account.
func (s scaffold) Account() string { return s.Program() }

// GoVersion returns the version of Go that the module asks for.
func (scaffold) GoVersion() string { return goVersion }

// GoRelease returns the release line of that version.
func (scaffold) GoRelease() string { return strings.TrimSuffix(goVersion, path.Ext(goVersion)) }

// ControllerTools returns the version of the generator of the definition.
func (scaffold) ControllerTools() string { return controllerTools }

// RegularPlural reports whether the SDK knows the plural without being told.
func (s scaffold) RegularPlural() bool {
	return s.Plural == s.Singular+"s" && !strings.HasSuffix(s.Singular, "s") && !strings.HasSuffix(s.Singular, "y")
}

// templates are the files of a provider, by their path in it and with a suffix.
//
//go:embed all:templates
var templates embed.FS

//go:embed specschema.yaml.tmpl
var specTemplate string

const suffix = ".tmpl"

// files returns the text of every file of a provider, by its path.
func (s scaffold) files() (map[string][]byte, error) {
	made := map[string][]byte{}
	err := fs.WalkDir(templates, "templates", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.ReadFile(name)
		if err != nil {
			return err
		}
		file := strings.TrimSuffix(strings.TrimPrefix(name, "templates/"), suffix)
		made[file], err = render(file, string(text), s)
		return err
	})
	if err != nil {
		return nil, err
	}
	made["deploy/crd.yaml"], err = s.definition()
	return made, err
}

// definition returns the CustomResourceDefinition that `make generate` writes.
func (s scaffold) definition() ([]byte, error) {
	text, err := render("specschema.yaml", specTemplate, s)
	if err != nil {
		return nil, err
	}
	spec := specSchema{description: s.Kind + " is a switch that may be bound to a span of time.", required: true}
	if err := yaml.UnmarshalStrict(text, &spec.properties); err != nil {
		return nil, fmt.Errorf("reading the schema of the spec: %w", err)
	}
	crd, err := newDefinition(s.names, spec)
	if err != nil {
		return nil, err
	}
	crd.SetAnnotations(map[string]string{"controller-gen.kubebuilder.io/version": controllerTools})
	text, err = yaml.Marshal(crd.Object)
	return append([]byte("---\n"), text...), err
}

// render fills a template. Go is formatted: what is aligned depends on names.
func render(name, text string, data any) ([]byte, error) {
	parsed, err := template.New(name).
		Option("missingkey=error").
		Funcs(template.FuncMap{"quote": modfile.AutoQuote}).
		Parse(text)
	if err != nil {
		return nil, err
	}
	var filled bytes.Buffer
	if err := parsed.Execute(&filled, data); err != nil {
		return nil, err
	}
	if path.Ext(name) != ".go" {
		return filled.Bytes(), nil
	}
	formatted, err := format.Source(filled.Bytes())
	if err != nil {
		return nil, fmt.Errorf("formatting %s: %w", name, err)
	}
	return formatted, nil
}

// writeTo writes the files into a directory, which is made if need be. Nothing
// is written over: the directory has to be empty, but for a new git repository.
func writeTo(dir string, files map[string][]byte) error {
	there, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is a file, and no directory: name another one with --dir", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if slices.ContainsFunc(there, func(entry fs.DirEntry) bool { return entry.Name() != ".git" }) {
		return fmt.Errorf("%s is not empty, and nothing is written over: name another directory with --dir", dir)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
