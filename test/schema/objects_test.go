// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// smallestMachine has what is required and nothing else.
const smallestMachine = `{
	"apiVersion": "5spot.finos.org/v1beta1",
	"kind": "ScheduledMachine",
	"metadata": {"name": "rack", "namespace": "default"},
	"spec": {
		"schedule": {"apiVersion": "spotschedules.5spot.finos.org/v1alpha1", "kind": "ManualSchedule", "name": "desk"},
		"clusterName": "trading",
		"bootstrapSpec": {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "spec": {}},
		"infrastructureSpec": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachine", "spec": {}}
	}
}`

// smallestManual has what is required and nothing else.
const smallestManual = `{
	"apiVersion": "spotschedules.5spot.finos.org/v1alpha1",
	"kind": "ManualSchedule",
	"metadata": {"name": "desk", "namespace": "default"},
	"spec": {"enabled": false}
}`

// with returns an object in JSON, changed by a JSON merge patch.
func with(t *testing.T, object, patch string) *unstructured.Unstructured {
	t.Helper()
	if patch == "" {
		patch = "{}"
	}
	text, err := jsonpatch.MergePatch([]byte(object), []byte(patch))
	if err != nil {
		t.Fatalf("patching the object with %s: %v", patch, err)
	}
	return parse(t, string(text))
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	return object
}

// check is what the API server would make of a new object: the object as it
// would be stored, or why it is refused. Nothing is stored.
func check(t *testing.T, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	stored := object.DeepCopy()
	err := cluster.Create(t.Context(), stored, client.DryRunAll)
	if err != nil && !apierrors.IsInvalid(err) {
		t.Fatalf("asking the API server about the object: %v", err)
	}
	return stored, err
}

// complaints lists what is wrong with an object, one line per fault, as the API
// server reports it: the field, then the text.
func complaints(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return []string{fmt.Sprint(err)}
	}
	var lines []string
	for _, cause := range status.Status().Details.Causes {
		lines = append(lines, cause.Field+": "+cause.Message)
	}
	return lines
}

// A validity is a row of a table about one change to a valid object.
type validity struct {
	// patch is a JSON merge patch.
	patch string
	// refused lists what the API server answers; empty for an object that it accepts.
	refused []string
}

func accepted(patch string) validity { return validity{patch: patch} }

func refused(patch string, faults ...string) validity { return validity{patch, faults} }

// notCheckedYet is what the API server adds where a fault hides others.
const notCheckedYet = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; " +
	"correct the existing errors to complete validation"

// testValidity runs the rows. What is accepted must also be something that a Go
// client can decode: one object that it cannot would hide all others of the kind.
func testValidity(t *testing.T, object string, rows map[string]validity) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			stored, err := check(t, with(t, object, row.patch))
			if len(row.refused) == 0 {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				decode(t, stored)
				return
			}
			if err == nil {
				t.Fatalf("accepted, want it refused with\n%s", strings.Join(row.refused, "\n"))
			}
			if got, want := strings.Join(complaints(err), "\n"), strings.Join(row.refused, "\n"); got != want {
				t.Errorf("refused with\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// decode decodes an object into its Go type.
func decode(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	var typed any
	switch object.GetKind() {
	case "ScheduledMachine":
		typed = &v1beta1.ScheduledMachine{}
	case "ManualSchedule":
		typed = &v1alpha1.ManualSchedule{}
	default:
		t.Fatalf("no Go type for kind %s", object.GetKind())
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true); err != nil {
		t.Errorf("accepted by the API server and not decodable in Go: %v", err)
	}
}
