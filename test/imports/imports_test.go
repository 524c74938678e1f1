// SPDX-License-Identifier: Apache-2.0

// Package imports checks, from what the compiler would link, that packages
// depend on each other in one direction only. The linter checks the same from
// what files import; this also sees what comes in by way of another package.
package imports

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/fivespot/fivespot"
)

// layer is a part of the tree, and all that it may link.
type layer struct {
	// packages that make up the layer, as patterns of the go command.
	packages []string
	// own are the directories of this module that it may link, with all below
	// them; itself included.
	own []string
	// others are the module paths outside the standard library that it may
	// link. Empty: any but forbidden ones.
	others []string
	// forbidden are prefixes of import paths that it must not link.
	forbidden []string
}

// heavy are the modules that no program of a provider's author must inherit.
var heavy = []string{"k8s.io/kubernetes", "sigs.k8s.io/cluster-api"}

// apimachinery is the module of that name and all that it links itself.
var apimachinery = []string{
	"k8s.io/apimachinery", "k8s.io/klog/v2", "k8s.io/kube-openapi", "k8s.io/utils", "sigs.k8s.io/json",
	"sigs.k8s.io/randfill", "sigs.k8s.io/structured-merge-diff", "sigs.k8s.io/yaml", "github.com/go-logr/logr",
	"github.com/fxamacker/cbor/v2", "github.com/x448/float16", "github.com/json-iterator/go",
	"github.com/modern-go", "go.yaml.in/yaml", "golang.org/x/net", "golang.org/x/text", "gopkg.in/inf.v0",
}

var layers = map[string]layer{
	"api links apimachinery only": {
		packages: []string{"./api/..."},
		own:      []string{"api"},
		others:   apimachinery,
	},
	"the contract knows no kind": {
		packages: []string{"./api/contract"},
		own:      []string{"api/contract"},
		others:   apimachinery,
	},
	"sdk links api": {
		packages:  []string{"./sdk/..."},
		own:       []string{"sdk", "api", "internal/alarm"},
		forbidden: heavy,
	},
	"providers link the sdk and our time maths": {
		packages:  []string{"./providers/..."},
		own:       []string{"providers", "sdk", "calendar", "internal/schedule", "internal/alarm", "api"},
		forbidden: heavy,
	},
	"the provider command links no controller": {
		packages:  []string{"./cmd/provider"},
		own:       []string{"cmd/provider", "providers", "sdk", "calendar", "internal/schedule", "internal/alarm", "internal/version", "api"},
		forbidden: heavy,
	},
	"the controller links neither providers nor the sdk": {
		packages: []string{"./internal/controller/..."},
		own: []string{
			"internal/controller", "internal/kinds", "internal/schedules", "internal/capi", "internal/alarm",
			"internal/workload", "internal/taints", "internal/drain", "internal/activation", "internal/shard", "api",
		},
		forbidden: []string{"k8s.io/kubernetes"},
	},
	"the controller command links neither providers nor the sdk": {
		packages: []string{"./cmd/controller"},
		own: []string{
			"cmd/controller", "internal/controller", "internal/kinds", "internal/schedules", "internal/capi",
			"internal/alarm", "internal/workload", "internal/taints", "internal/drain", "internal/activation", "internal/shard",
			"internal/version", "api",
		},
		forbidden: []string{"k8s.io/kubernetes"},
	},
	"what looks after Nodes knows the api": {
		packages:  []string{"./internal/workload/...", "./internal/taints/..."},
		own:       []string{"internal/workload", "internal/taints", "internal/alarm", "api"},
		forbidden: heavy,
	},
	"sharing the work knows nothing of ours": {
		packages:  []string{"./internal/activation/...", "./internal/shard/..."},
		own:       []string{"internal/activation", "internal/shard"},
		forbidden: heavy,
	},
	"draining knows nothing of ours": {
		packages:  []string{"./internal/drain/..."},
		own:       []string{"internal/drain"},
		forbidden: []string{"k8s.io/kubernetes"},
	},
	"what reads schedules and builds machines knows the api": {
		packages:  []string{"./internal/schedules/...", "./internal/capi/..."},
		own:       []string{"internal/schedules", "internal/capi", "internal/kinds", "api"},
		forbidden: []string{"k8s.io/kubernetes"},
	},
	"following kinds knows nothing of ours": {
		packages:  []string{"./internal/kinds/..."},
		own:       []string{"internal/kinds"},
		forbidden: heavy,
	},
	"alarms know nothing of ours": {
		packages:  []string{"./internal/alarm/..."},
		own:       []string{"internal/alarm"},
		forbidden: heavy,
	},
	"time maths is pure": {
		packages:  []string{"./internal/schedule/..."},
		own:       []string{"internal/schedule"},
		forbidden: []string{"k8s.io/", "sigs.k8s.io/"},
	},
	"calendars are pure": {
		packages:  []string{"./calendar/..."},
		own:       []string{"calendar", "internal/schedule"},
		forbidden: []string{"k8s.io/", "sigs.k8s.io/"},
	},
	"the manifests link nothing": {
		packages: []string{"./deploy/..."},
		own:      []string{"deploy"},
		others:   []string{"none"},
	},
}

func TestImportsRunOneWay(t *testing.T) {
	for name, layer := range layers {
		t.Run(name, func(t *testing.T) {
			packages := dependencies(t, layer.packages)
			if len(packages) == 0 {
				t.Fatalf("%v names no package", layer.packages)
			}
			for _, path := range packages {
				if fault := layer.fault(path); fault != "" {
					t.Errorf("%s must not link %s: %s", strings.Join(layer.packages, ", "), path, fault)
				}
			}
		})
	}
}

// fault says why the layer must not link a package, or "" if it may.
func (l layer) fault(path string) string {
	if path == module || strings.HasPrefix(path, module+"/") {
		if slices.ContainsFunc(l.own, func(dir string) bool { return within(path, module+"/"+dir) }) {
			return ""
		}
		return "it is not below " + strings.Join(l.own, ", ")
	}
	// What Cluster API's types link is meant for everyone.
	if within(path, "sigs.k8s.io/cluster-api/api") && !slices.Contains(l.forbidden, "sigs.k8s.io/cluster-api") {
		return ""
	}
	if slices.ContainsFunc(l.forbidden, func(prefix string) bool {
		return within(path, strings.TrimSuffix(prefix, "/"))
	}) {
		return "it is too heavy"
	}
	if len(l.others) > 0 && !slices.ContainsFunc(l.others, func(prefix string) bool { return within(path, prefix) }) {
		return "it is not below " + strings.Join(l.others, ", ")
	}
	return ""
}

// within reports whether an import path is prefix or below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// dependencies lists the packages outside the standard library that the given
// ones link, themselves included.
func dependencies(t *testing.T, patterns []string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go",
		append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, patterns...)...)
	list.Dir = root
	var complaints strings.Builder
	list.Stderr = &complaints
	output, err := list.Output()
	if err != nil {
		t.Fatalf("listing what %v links: %v\n%s", patterns, err, complaints.String())
	}
	packages := strings.Fields(string(output))
	for _, path := range packages {
		if dir, ours := strings.CutPrefix(path, module); ours {
			// So that go test does not answer from its cache once a file there has changed.
			if _, err := os.ReadDir(root + dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	return packages
}

// Whoever requires this module to write a provider must not get Kubernetes or
// the Cluster API managers with it, not even into their go.sum.
func TestModuleRequiresNothingHeavy(t *testing.T) {
	text, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		for path := range strings.FieldsSeq(line) {
			if path == "k8s.io/kubernetes" || path == "sigs.k8s.io/cluster-api" || path == "sigs.k8s.io/cluster-api/test" {
				t.Errorf("go.mod mentions %s", path)
			}
		}
	}
}
