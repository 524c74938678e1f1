// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Stdin is the file name that stands for standard input.
const Stdin = "-"

// ParseError says that a manifest is not YAML or JSON.
type ParseError struct {
	// File is the name of the manifest.
	File string
	// Line is where reading stopped; at least 1.
	Line int
	// Problem is what is wrong there.
	Problem string
}

// Error returns file, line and problem.
func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem) }

// ReadFile returns the objects of a file, in order; of standard input for the
// name "-". Lists are replaced by their items. The error is a *ParseError where
// the file can be read and its text cannot.
func ReadFile(file string, stdin io.Reader) ([]*Object, error) {
	if file == Stdin {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return Parse("standard input", text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse returns the objects of a manifest, as ReadFile does.
func Parse(file string, text []byte) ([]*Object, error) {
	var objects []*Object
	for _, doc := range split(text) {
		found, err := parseDocument(file, doc)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

type document struct {
	text   []byte
	before int // lines of the file before it
}

// split cuts a file where a line begins with three dashes and nothing else or a
// space follows, as YAML does, and JSON objects that follow one another, as
// kubectl does.
func split(text []byte) []document {
	if documents := splitJSON(text); len(documents) > 1 {
		return documents
	}
	var documents []document
	current := document{}
	for number, line := range bytes.SplitAfter(text, []byte("\n")) {
		if rest, found := bytes.CutPrefix(line, []byte("---")); found && startsBlank(rest) {
			documents = append(documents, current)
			current = document{before: number}
			// What follows on the line belongs to the document: a comment, or its
			// beginning.
			line = bytes.TrimLeft(rest, " \t")
		}
		current.text = append(current.text, line...)
	}
	return append(documents, current)
}

func startsBlank(rest []byte) bool {
	return len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0
}

// splitJSON cuts a file of JSON values; nil where it is anything else.
func splitJSON(text []byte) []document {
	var documents []document
	decoder := json.NewDecoder(bytes.NewReader(text))
	for start := int64(0); ; {
		var value json.RawMessage
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return documents
		case err != nil:
			return nil
		}
		end := decoder.InputOffset()
		documents = append(documents, document{text[start:end], bytes.Count(text[:start], []byte("\n"))})
		start = end
	}
}

func parseDocument(file string, doc document) ([]*Object, error) {
	var root, more yamlnode.Node
	decoder := yamlnode.NewDecoder(bytes.NewReader(doc.text))
	if err := decoder.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, parseError(file, doc, err)
	}
	// Readers of one document stop after it without a word, whatever follows.
	err := decoder.Decode(&more)
	if err == nil {
		err = errors.New("more than one document, without a line --- between them")
	}
	if !errors.Is(err, io.EOF) {
		return nil, parseError(file, doc, err)
	}
	if len(root.Content) == 0 {
		return nil, nil // Nothing but comments.
	}
	text, err := yaml.YAMLToJSONStrict(doc.text)
	if err != nil {
		return nil, parseError(file, doc, err)
	}
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &value); err != nil {
		return nil, parseError(file, doc, err)
	}
	if value == nil {
		return nil, nil
	}
	content, ok := value.(map[string]any)
	if !ok {
		return nil, parseError(file, doc, errors.New("a Kubernetes object is due here"))
	}
	return objectsOf(file, doc.before, content, root.Content[0]), nil
}

// objectsOf returns an object, or the items of a list.
func objectsOf(file string, before int, content map[string]any, node *yamlnode.Node) []*Object {
	object := &Object{File: file, Content: content, node: node, before: before}
	object.APIVersion, _ = content["apiVersion"].(string)
	object.Kind, _ = content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	object.Namespace, _ = metadata["namespace"].(string)
	object.Name, _ = metadata["name"].(string)
	items, isList := content["items"].([]any)
	if !isList || !strings.HasSuffix(object.Kind, "List") {
		return []*Object{object}
	}
	nodes, _ := descend(node, "items", 0)
	var objects []*Object
	for i, item := range items {
		itemNode, _ := descend(nodes, "["+strconv.Itoa(i)+"]", 0)
		if itemNode == nil {
			itemNode = node // Merged in from elsewhere.
		}
		if itemContent, ok := item.(map[string]any); ok {
			objects = append(objects, objectsOf(file, before, itemContent, itemNode)...)
		}
	}
	return objects
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// parseError takes the line out of a YAML library's message.
func parseError(file string, doc document, err error) error {
	problem, line := err.Error(), 1
	if match := yamlLine.FindStringSubmatch(problem); match != nil {
		line, _ = strconv.Atoi(match[1])
		problem = strings.Replace(problem, match[0], "", 1)
	}
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		problem = strings.TrimPrefix(problem, prefix)
	}
	return &ParseError{File: file, Line: doc.before + line, Problem: problem}
}
