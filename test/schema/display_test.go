// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// What `kubectl get` shows.
func TestPrinterColumns(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	tests := map[string]struct {
		object, status string
		path           string
		wantColumns    []string // name and type
		wantCells      []any
		changing       []string // columns whose cells depend on the time of day
	}{
		"scheduledmachines": {
			object: smallestMachine,
			status: `{"status": {"phase": "Pending", "ready": false, "inSchedule": true}}`,
			path:   "/apis/5spot.finos.org/v1beta1/namespaces/" + namespace + "/scheduledmachines/rack",
			wantColumns: []string{
				"Name string", "Phase string", "Ready boolean", "InSchedule boolean", "Enabled boolean", "Schedule string", "KillSwitch boolean", "Age date",
			},
			wantCells: []any{"rack", "Pending", false, true, true, "ManualSchedule", false, "…"},
			changing:  []string{"Age"},
		},
		"manualschedules": {
			object:      smallestManual,
			status:      `{"status": {"active": false}}`,
			path:        "/apis/spotschedules.5spot.finos.org/v1alpha1/namespaces/" + namespace + "/manualschedules/desk",
			wantColumns: []string{"Name string", "Active boolean"},
			wantCells:   []any{"desk", false},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := parse(t, test.object)
			object.SetNamespace(namespace)
			create(t, object, test.status)

			table := getTable(t, test.path)
			var columns []string
			for i, column := range table.ColumnDefinitions {
				columns = append(columns, column.Name+" "+column.Type)
				if slices.Contains(test.changing, column.Name) {
					table.Rows[0].Cells[i] = "…"
				}
			}
			if diff := cmp.Diff(test.wantColumns, columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantCells, table.Rows[0].Cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

// create creates an object and gives it a status.
func create(t *testing.T, object *unstructured.Unstructured, status string) {
	t.Helper()
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if status == "" {
		return
	}
	if err := cluster.Status().Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(status))); err != nil {
		t.Fatal(err)
	}
}

// getTable asks for an object in the form that kubectl prints.
func getTable(t *testing.T, path string) *metav1.Table {
	t.Helper()
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	response, err := web.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(text, table); err != nil || len(table.Rows) != 1 {
		t.Fatalf("%s answers %s, want a table of one row (%v)", path, text, err)
	}
	return table
}

// What kubectl knows the kinds by.
func TestNames(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][]metav1.APIResource{
		"5spot.finos.org/v1beta1": {
			{Name: "scheduledmachines", SingularName: "scheduledmachine", ShortNames: []string{"sm"}, Kind: "ScheduledMachine", Namespaced: true},
			{Name: "scheduledmachines/status", Kind: "ScheduledMachine", Namespaced: true},
		},
		"spotschedules.5spot.finos.org/v1alpha1": {
			{Name: "manualschedules", SingularName: "manualschedule", ShortNames: []string{"ms"}, Kind: "ManualSchedule", Namespaced: true},
			{Name: "manualschedules/status", Kind: "ManualSchedule", Namespaced: true},
		},
	}
	for version, want := range tests {
		t.Run(version, func(t *testing.T) {
			list, err := client.ServerResourcesForGroupVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			var got []metav1.APIResource
			for _, resource := range list.APIResources {
				if !slices.ContainsFunc(want, func(w metav1.APIResource) bool { return w.Kind == resource.Kind }) {
					continue
				}
				resource.Verbs, resource.StorageVersionHash = nil, ""
				got = append(got, resource)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}
