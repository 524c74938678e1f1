// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const twoDocuments = `# A comment.
---
apiVersion: spotschedules.5spot.finos.org/v1alpha1
kind: TimeBasedSpotSchedule
metadata:
  name: office
  namespace: trading
spec:
  windows:
    - days: [mon, tue]
      start: "09:00"
    - days:
        - wed
        - thu
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: two
---
`

func TestObjectsAreFoundInDocumentsAndLists(t *testing.T) {
	objects, err := Parse("f.yaml", []byte(twoDocuments))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range objects {
		names = append(names, object.String()+" of group "+object.Group())
	}
	want := []string{
		"TimeBasedSpotSchedule trading/office of group spotschedules.5spot.finos.org",
		"ConfigMap one of group ", "ConfigMap two of group ",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestLinesAreThoseOfTheFile(t *testing.T) {
	objects, err := Parse("f.yaml", []byte(twoDocuments))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{
		"": 3, "kind": 4, "metadata.name": 6, "spec.windows": 9, "spec.windows[0]": 10, "spec.windows[0].start": 11,
		"spec.windows[1].days[1]": 14, "spec.windows[0].end": 10, "spec.timezone": 8, "spec.windows[7].end": 9, "status.active": 3,
	}
	for path, want := range lines {
		if got := objects[0].Line(path); got != want {
			t.Errorf("%q is on line %d, want %d", path, got, want)
		}
	}
	if got := objects[2].Line("metadata.name"); got != 23 {
		t.Errorf("the name of the second item is on line %d, want 23", got)
	}
}

func TestNoDocumentIsLost(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // kind and line
	}{
		"a comment after the dashes":     {"kind: A\n--- # from a template\nkind: B\n", []string{"A 1", "B 3"}},
		"a document after the dashes":    {"--- {kind: A}\n---\t{kind: B}\n", []string{"A 1", "B 2"}},
		"dashes that separate nothing":   {"---\n---\n--- \nkind: A\n---", []string{"A 4"}},
		"dashes within a text":           {"kind: A\ntext: |\n  ---\n  x\nmore: a\n", []string{"A 1"}},
		"an end before the next":         {"kind: A\n...\n---\nkind: B\n", []string{"A 1", "B 4"}},
		"lines ended as by Windows":      {"kind: A\r\n---\r\nkind: B\r\n", []string{"A 1", "B 3"}},
		"JSON objects one after another": {"{\"kind\": \"A\"}\n{\n\"kind\": \"B\"} {\"kind\": \"C\"}\n", []string{"A 1", "B 3", "C 3"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := Parse("f.yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, object := range objects {
				got = append(got, fmt.Sprintf("%s %d", object.Kind, object.Line("kind")))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextThatIsNoManifestIsRefusedByLine(t *testing.T) {
	tests := map[string]struct {
		text    string
		line    int
		problem string
	}{
		"bad indent":      {"---\na: 1\n b: 2\n", 3, "mapping values are not allowed"},
		"a field twice":   {"kind: A\n---\nkind: B\nkind: C\n", 4, "already"},
		"a list":          {"- a\n", 1, "a Kubernetes object is due here"},
		"an unclosed map": {"{", 1, ""},
		"no dashes":       {"kind: A\n...\nkind: B\n", 2, "document start"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(test.text))
			var parse *ParseError
			if !errors.As(err, &parse) || parse.Line != test.line || !strings.Contains(parse.Problem, test.problem) {
				t.Errorf("got %v, want line %d: %s", err, test.line, test.problem)
			}
		})
	}
}

func TestValuesAreReadAsKubectlReadsThem(t *testing.T) {
	objects, err := Parse("f.yaml", []byte("kind: X\nspec: {enabled: on, hours: 9}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"enabled": true, "hours": int64(9)}
	if diff := cmp.Diff(want, objects[0].Content["spec"]); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(twoDocuments))
	f.Add([]byte("kind: ConfigMapList\nitems: [1, {}]\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("kind: List\nitems: *x\nx: &x []\n"))
	f.Add([]byte("base: &base {items: [{kind: A}]}\n<<: *base\nkind: List\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, err := Parse("f.yaml", text)
		if err != nil {
			return
		}
		for _, object := range objects {
			object.Line("spec.windows[0].start")
		}
	})
}
