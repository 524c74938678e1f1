// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// otherVersion is served beside v1alpha1, where a kind has two.
const otherVersion = "v1beta1"

// secondVersion has a CRD serve a second version with the same schema, and a
// webhook that converts between the two, by a change of the other version's object.
func secondVersion(t *testing.T, change func(object map[string]any)) func(crd map[string]any) {
	t.Helper()
	server := httptest.NewTLSServer(conversion(t, change))
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return func(crd map[string]any) {
		second := runtime.DeepCopyJSON(version(crd))
		second["name"], second["storage"] = otherVersion, false
		spec := at(crd, "spec")
		spec["versions"] = append(spec["versions"].([]any), second)
		spec["conversion"] = map[string]any{
			"strategy": "Webhook",
			"webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"},
				"clientConfig":             map[string]any{"url": server.URL, "caBundle": authority},
			},
		}
	}
}

// conversion answers the reviews of an API server.
func conversion(t *testing.T, change func(object map[string]any)) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		review := &apiextensionsv1.ConversionReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			t.Errorf("reading a conversion review: %v", err)
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{
			UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess},
		}
		for _, raw := range review.Request.Objects {
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON(raw.Raw); err != nil {
				t.Errorf("reading an object to convert: %v", err)
				return
			}
			object.SetAPIVersion(review.Request.DesiredAPIVersion)
			if object.GroupVersionKind().Version == otherVersion {
				change(object.Object)
			}
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: object})
		}
		review.Request = nil
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Errorf("answering a conversion review: %v", err)
		}
	}
}

func inverted(object map[string]any) {
	if active, known, _ := unstructured.NestedBool(object, "status", "active"); known {
		at(object, "status")["active"] = !active
	}
}

func TestVersionsThatDisagreeFailTheirRuleAlone(t *testing.T) {
	t.Parallel()
	b := &broken{rule: "C15", fails: []string{"versions-agree"}, edit: secondVersion(t, inverted)}
	b.check(t, "disagrees with itself")
}

func alwaysActive(object map[string]any) {
	if _, known, _ := unstructured.NestedBool(object, "status", "active"); known {
		at(object, "status")["active"] = true
	}
}

func TestVersionsThatAgreeAboutOneVerdictFailTheirRuleAlone(t *testing.T) {
	t.Parallel()
	b := &broken{rule: "C15", fails: []string{"versions-agree"}, edit: secondVersion(t, alwaysActive)}
	b.check(t, "agrees when active")
}

func TestVersionsThatAgreePass(t *testing.T) {
	t.Parallel()
	b := &broken{edit: secondVersion(t, func(map[string]any) {})}
	b.check(t, "agrees with itself")
}
