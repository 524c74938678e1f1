// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/taints"
	"github.com/fivespot/fivespot/internal/workload"
)

// of returns a taint of a spec or status.
func of(key, value string, effect v1beta1.TaintEffect) v1beta1.NodeTaint {
	return v1beta1.NodeTaint{Key: key, Value: value, Effect: effect}
}

// on returns a taint of a Node.
func on(key, value string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: effect}
}

const (
	noSchedule = "NoSchedule"
	noExecute  = "NoExecute"
	prefer     = "PreferNoSchedule"
)

func TestPlans(t *testing.T) {
	t.Parallel()
	type list = []v1beta1.NodeTaint
	tests := map[string]struct {
		wanted, recorded list
		node             []corev1.Taint
		annotation       string
		want             taints.Plan
		idle             bool // nothing has to be written
	}{
		"nothing is wanted of a Node without taints": {idle: true},
		"the taints of others are none of our business": {
			node: []corev1.Taint{on("node.kubernetes.io/unreachable", "", noSchedule)},
			want: taints.Plan{Taints: []corev1.Taint{on("node.kubernetes.io/unreachable", "", noSchedule)}},
			idle: true,
		},
		"added beside others": {
			wanted: list{of("example.com/desk", "a", noSchedule)},
			node:   []corev1.Taint{on("example.com/theirs", "", noSchedule)},
			want: taints.Plan{
				Taints: []corev1.Taint{on("example.com/theirs", "", noSchedule), on("example.com/desk", "a", noSchedule)},
				Owned:  list{of("example.com/desk", "a", noSchedule)},
				Added:  list{of("example.com/desk", "a", noSchedule)},
			},
		},
		"in place": {
			wanted:     list{of("example.com/desk", "a", noSchedule)},
			recorded:   list{of("example.com/desk", "a", noSchedule)},
			node:       []corev1.Taint{on("example.com/desk", "a", noSchedule)},
			annotation: `[{"key":"example.com/desk","effect":"NoSchedule"}]`,
			want: taints.Plan{
				Taints: []corev1.Taint{on("example.com/desk", "a", noSchedule)},
				Owned:  list{of("example.com/desk", "a", noSchedule)},
			},
			idle: true,
		},
		"the same key with two effects is two taints": {
			wanted:     list{of("example.com/desk", "a", noSchedule), of("example.com/desk", "b", noExecute)},
			node:       []corev1.Taint{on("example.com/desk", "a", noSchedule)},
			annotation: `[{"key":"example.com/desk","effect":"NoSchedule"}]`,
			want: taints.Plan{
				Taints: []corev1.Taint{on("example.com/desk", "a", noSchedule), on("example.com/desk", "b", noExecute)},
				Owned:  list{of("example.com/desk", "b", noExecute), of("example.com/desk", "a", noSchedule)},
				Added:  list{of("example.com/desk", "b", noExecute)},
			},
		},
		"a conflict is left alone": {
			wanted: list{of("example.com/desk", "ours", noSchedule), of("example.com/more", "", prefer)},
			node:   []corev1.Taint{on("example.com/desk", "theirs", noSchedule)},
			want: taints.Plan{
				Taints:    []corev1.Taint{on("example.com/desk", "theirs", noSchedule), on("example.com/more", "", prefer)},
				Owned:     list{of("example.com/more", "", prefer)},
				Added:     list{of("example.com/more", "", prefer)},
				Conflicts: []taints.Conflict{{Wanted: of("example.com/desk", "ours", noSchedule), Value: "theirs"}},
			},
		},
		"a taint that says the same is a conflict all the same": {
			wanted: list{of("example.com/desk", "a", noSchedule)},
			node:   []corev1.Taint{on("example.com/desk", "a", noSchedule)},
			want: taints.Plan{
				Taints:    []corev1.Taint{on("example.com/desk", "a", noSchedule)},
				Conflicts: []taints.Conflict{{Wanted: of("example.com/desk", "a", noSchedule), Value: "a"}},
			},
			idle: true,
		},
		"taken away by somebody, put back": {
			wanted:     list{of("example.com/desk", "a", noSchedule)},
			recorded:   list{of("example.com/desk", "a", noSchedule)},
			annotation: `[{"key":"example.com/desk","effect":"NoSchedule"}]`,
			want: taints.Plan{
				Taints: []corev1.Taint{on("example.com/desk", "a", noSchedule)},
				Owned:  list{of("example.com/desk", "a", noSchedule)},
				Added:  list{of("example.com/desk", "a", noSchedule)},
			},
		},
		"changed by somebody, changed back": {
			wanted:   list{of("example.com/desk", "a", noSchedule)},
			recorded: list{of("example.com/desk", "a", noSchedule)},
			node:     []corev1.Taint{on("example.com/desk", "b", noSchedule)},
			want: taints.Plan{
				Taints:  []corev1.Taint{on("example.com/desk", "a", noSchedule)},
				Owned:   list{of("example.com/desk", "a", noSchedule)},
				Changed: list{of("example.com/desk", "a", noSchedule)},
			},
		},
		"no longer wanted": {
			recorded:   list{of("example.com/desk", "a", noSchedule)},
			node:       []corev1.Taint{on("example.com/theirs", "", noSchedule), on("example.com/desk", "a", noSchedule)},
			annotation: `[{"key":"example.com/desk","effect":"NoSchedule"}]`,
			want: taints.Plan{
				Taints:  []corev1.Taint{on("example.com/theirs", "", noSchedule)},
				Removed: list{of("example.com/desk", "a", noSchedule)},
			},
		},
		"written before a crash, not recorded, no longer wanted": {
			node:       []corev1.Taint{on("example.com/desk", "a", noSchedule)},
			annotation: `[{"key":"example.com/desk","effect":"NoSchedule"}]`,
			want:       taints.Plan{Removed: list{of("example.com/desk", "a", noSchedule)}},
		},
		"an annotation that somebody took away is written again": {
			wanted:   list{of("example.com/desk", "a", noSchedule)},
			recorded: list{of("example.com/desk", "a", noSchedule)},
			node:     []corev1.Taint{on("example.com/desk", "a", noSchedule)},
			want: taints.Plan{
				Taints: []corev1.Taint{on("example.com/desk", "a", noSchedule)},
				Owned:  list{of("example.com/desk", "a", noSchedule)},
			},
		},
		"an annotation that makes no sense says nothing": {
			wanted:     list{of("example.com/desk", "a", noSchedule)},
			node:       []corev1.Taint{on("example.com/desk", "b", noSchedule)},
			annotation: `{"example.com/desk"`,
			want: taints.Plan{
				Taints:    []corev1.Taint{on("example.com/desk", "b", noSchedule)},
				Conflicts: []taints.Conflict{{Wanted: of("example.com/desk", "a", noSchedule), Value: "b"}},
			},
		},
		"no annotation makes a taint of Kubernetes ours": {
			node: []corev1.Taint{on("node.kubernetes.io/unschedulable", "", noSchedule), on("node-role.kubernetes.io/control-plane", "", noSchedule)},
			annotation: `[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},` +
				`{"key":"node-role.kubernetes.io/control-plane","effect":"NoSchedule"}]`,
			want: taints.Plan{Taints: []corev1.Taint{
				on("node.kubernetes.io/unschedulable", "", noSchedule), on("node-role.kubernetes.io/control-plane", "", noSchedule),
			}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &workload.Node{Name: "rack", Taints: test.node}
			if test.annotation != "" {
				node.Annotations = map[string]string{v1beta1.AnnotationAppliedTaints: test.annotation}
			}
			plan := taints.Make(test.wanted, test.recorded, node)
			if diff := cmp.Diff(test.want, plan, cmpopts.IgnoreUnexported(taints.Plan{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if plan.Pending() == test.idle {
				t.Errorf("pending is %t", plan.Pending())
			}
		})
	}
}

func TestAStatusIsAboutTheNodeThatItNames(t *testing.T) {
	t.Parallel()
	applied := []v1beta1.NodeTaint{of("example.com/desk", "a", noSchedule)}
	node := &workload.Node{Name: "rack", UID: "1"}
	for name, test := range map[string]struct {
		ref  *v1beta1.NodeReference
		want []v1beta1.NodeTaint
	}{
		"this Node":                     {&v1beta1.NodeReference{Name: "rack", UID: "1"}, applied},
		"an earlier Node of the name":   {&v1beta1.NodeReference{Name: "rack", UID: "0"}, nil},
		"a Node whose UID is not known": {&v1beta1.NodeReference{Name: "rack"}, nil},
		"no Node":                       {nil, nil},
	} {
		status := &v1beta1.ScheduledMachineStatus{NodeRef: test.ref, AppliedNodeTaints: applied}
		if diff := cmp.Diff(test.want, taints.Recorded(status, node)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
