// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/cli/manifest"
	"github.com/fivespot/fivespot/internal/schedule"
)

// Problem is something wrong with an object.
type Problem struct {
	// Path leads to the field: spec.windows[0].start. It is empty where the object
	// as a whole is meant.
	Path string
	// Text says what is wrong.
	Text string
}

// Problems returns everything that is wrong with an object of a kind that 5-Spot
// installs: what an API server would refuse or drop, and what its provider would
// refuse. It returns nothing for objects of other kinds, but that a kind in the
// group of schedules is none that 5-Spot brings is said in unknown.
func Problems(object *manifest.Object) (problems []Problem, unknown string, err error) {
	known, err := definitions()
	if err != nil {
		return nil, "", err
	}
	kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
	one, ok := known[kind]
	if !ok {
		return nil, stranger(slices.Collect(maps.Keys(known)), kind), nil
	}
	problems = checkName(object)
	refused := one.check(object.Content)
	if CanEvaluate(object) {
		problems = append(problems, specProblems(object, len(refused)+len(problems) > 0)...)
	}
	for _, problem := range refused {
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Path == problem.Path }) {
			problems = append(problems, problem)
		}
	}
	return problems, "", nil
}

// stranger says what is odd about a kind of our groups that is not installed.
func stranger(known []schema.GroupVersionKind, kind schema.GroupVersionKind) string {
	slices.SortFunc(known, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	ours := slices.ContainsFunc(known, func(k schema.GroupVersionKind) bool { return k.Group == kind.Group })
	if !ours {
		return ""
	}
	for _, k := range known {
		if k.Group == kind.Group && k.Kind == kind.Kind {
			return fmt.Sprintf("5-Spot serves %s in version %s, not %s", k.Kind, k.Version, kind.Version)
		}
		if k.Group == kind.Group && strings.EqualFold(k.Kind, kind.Kind) {
			return fmt.Sprintf("5-Spot brings no kind %s; did you mean %s?", kind.Kind, k.Kind)
		}
	}
	if kind.Group == contract.Group {
		return kind.Kind + " is not a kind that 5-Spot brings, so it is not checked"
	}
	return fmt.Sprintf("5-Spot brings no kind %s in %s", kind.Kind, kind.GroupVersion())
}

func checkName(object *manifest.Object) []Problem {
	metadata, _ := object.Content["metadata"].(map[string]any)
	if generate, ok := metadata["generateName"].(string); ok && generate != "" && object.Name == "" {
		return nil
	}
	if name := metadata["name"]; name != nil && object.Name == "" {
		return []Problem{{"metadata.name", fmt.Sprintf("%v is not text to YAML; put it in quotes", name)}}
	}
	if object.Name == "" {
		return []Problem{{"metadata.name", "the object has no name"}}
	}
	var problems []Problem
	for _, text := range apivalidation.NameIsDNSSubdomain(object.Name, false) {
		problems = append(problems, Problem{"metadata.name", fmt.Sprintf("%q: %s", object.Name, text)})
	}
	return problems
}

// specProblems returns what the object's provider would refuse. An error without
// a path is about the object's shape, and says nothing new where something was
// refused before.
func specProblems(object *manifest.Object, refused bool) []Problem {
	_, err := Read(object)
	if err == nil {
		return nil
	}
	var problems []Problem
	for _, e := range schedule.FieldErrors(err) {
		problems = append(problems, Problem{e.Path, fmt.Sprintf("%q is not %s", e.Value, e.Want)})
	}
	if len(problems) == 0 && !refused {
		problems = append(problems, Problem{"spec", err.Error()})
	}
	return problems
}
