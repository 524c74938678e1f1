// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Object is one Kubernetes object of a manifest.
type Object struct {
	// File is the name of the manifest, as it was given.
	File string
	// APIVersion and Kind are the object's; empty where it has none.
	APIVersion, Kind string
	// Namespace and Name are those of its metadata; empty where it has none.
	Namespace, Name string
	// Content is the object as decoded JSON.
	Content map[string]any

	node *yaml.Node
	// before is how many lines come before the document in the file.
	before int
}

// Group returns the API group of the object; empty for the core group.
func (o *Object) Group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// String returns kind, namespace and name: TimeBasedSpotSchedule trading/office.
func (o *Object) String() string {
	name := o.Name
	if name == "" {
		name = "(no name)"
	}
	if o.Namespace == "" {
		return o.Kind + " " + name
	}
	return o.Kind + " " + o.Namespace + "/" + name
}

// Line returns the number of the line on which a field stands, or else the field
// that it would stand in. The path is spelled spec.windows[0].start; empty for
// the object itself.
func (o *Object) Line(path string) int {
	node, line := o.node, o.node.Line
	for _, step := range steps(path) {
		var found *yaml.Node
		if found, line = descend(node, step, line); found == nil {
			break
		}
		node = found
	}
	return o.before + line
}

// steps splits a path into names of fields and indices such as [0].
func steps(path string) []string {
	spaced := strings.ReplaceAll(path, "[", ".[")
	return strings.FieldsFunc(spaced, func(r rune) bool { return r == '.' })
}

// descend returns the node that a step leads to and its line; nil and the line
// that was given where there is none.
func descend(node *yaml.Node, step string, line int) (*yaml.Node, int) {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil {
		return nil, line
	}
	if index, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && node.Kind == yaml.SequenceNode {
		if index < 0 || index >= len(node.Content) {
			return nil, line
		}
		return node.Content[index], node.Content[index].Line
	}
	if node.Kind != yaml.MappingNode {
		return nil, line
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i]; key.Value == step {
			return node.Content[i+1], key.Line
		}
	}
	return nil, line
}
