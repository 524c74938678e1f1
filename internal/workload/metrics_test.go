// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/internal/workload"
)

func TestResolutionsAndErrorsAreCounted(t *testing.T) {
	t.Parallel()
	r := newCalmRig(t)
	w := newWire(t)
	a, b, named := r.owner("a"), r.owner("b"), r.bySecret("rack-kubeconfig")
	r.reaches(a, r.byName("rack"), workload.Target{})
	r.fails(b, named, workload.ReasonKubeconfigNotFound)
	r.put("rack-kubeconfig", admin(t, w.server()))
	r.reaches(b, named, workload.Target{})
	r.await(a, r.byName("rack"), workload.Target{}, func(v workload.View) error {
		if v.Management || v.State != workload.Reachable {
			return errors.New("it is not reached by the Secret")
		}
		return nil
	})
	before := r.counts("fivespot_child_kubeconfig_resolutions_total", "result")
	r.Use(a, r.byName("rack"), workload.Target{})
	r.Use(b, named, workload.Target{})
	after := r.counts("fivespot_child_kubeconfig_resolutions_total", "result")
	before["cache_hit"] += 2
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("two more looks count (-want +got):\n%s", diff)
	}
	for _, result := range []string{"management", "child_auto", "child_explicit"} {
		if after[result] != 1 {
			t.Errorf("%s counts %v, want 1", result, after[result])
		}
	}

	elsewhere := newWire(t)
	r.put("rack-kubeconfig", admin(t, elsewhere.server()))
	elsewhere.awaitOpen(1)
	w.awaitOpen(0)
	r.reaches(b, named, workload.Target{})
	if got := r.counts("fivespot_child_kubeconfig_resolutions_total", "result")["rebuild"]; got != 1 {
		t.Errorf("rebuild counts %v, want 1", got)
	}
	r.put("rack-kubeconfig", []byte("garbage"))
	r.fails(b, named, workload.ReasonKubeconfigInvalid)
	want := map[string]float64{"secret_not_found": 1, "invalid_yaml": 1}
	if diff := cmp.Diff(want, r.counts("fivespot_child_kubeconfig_errors_total", "reason")); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// counts returns the values of a counter by its one label.
func (r *rig) counts(name, label string) map[string]float64 {
	r.t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, pair := range metric.GetLabel() {
				if pair.GetName() == label {
					counts[pair.GetValue()] = metric.GetCounter().GetValue()
				}
			}
		}
	}
	return counts
}
