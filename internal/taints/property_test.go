// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/taints"
	"github.com/fivespot/fivespot/internal/workload"
)

// world is a Node, a status and a spec, and whose each taint of the Node is.
type world struct {
	wanted, recorded []v1beta1.NodeTaint
	node             *workload.Node
	foreign          map[string]bool
	// behind is true while the status does not know what the Node's annotation says.
	behind bool
}

var keys = rapid.SampledFrom([]string{"example.com/a", "example.com/b", "c", "node.kubernetes.io/unreachable"})

var effects = rapid.SampledFrom([]v1beta1.TaintEffect{noSchedule, noExecute, prefer})

func drawTaints(t *rapid.T, what string) []v1beta1.NodeTaint {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) v1beta1.NodeTaint {
		return of(keys.Draw(t, "key"), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "value"), effects.Draw(t, "effect"))
	}), 0, 6, id).Draw(t, what)
}

func id(taint v1beta1.NodeTaint) string { return taint.Key + ":" + string(taint.Effect) }

func idOn(taint corev1.Taint) string { return taint.Key + ":" + string(taint.Effect) }

func isOurKind(taint v1beta1.NodeTaint) bool { return taint.Key != "node.kubernetes.io/unreachable" }

// TestPlansConvergeAndLeaveOthersAlone plays writers of every kind, crashes
// between our two writes included, against our plans.
func TestPlansConvergeAndLeaveOthersAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := world{node: &workload.Node{Name: "rack", Annotations: map[string]string{}}, foreign: map[string]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"the user edits the spec": func(t *rapid.T) {
				w.wanted = slices.DeleteFunc(drawTaints(t, "spec"), func(taint v1beta1.NodeTaint) bool { return !isOurKind(taint) })
			},
			"somebody adds a taint": func(t *rapid.T) {
				for _, taint := range drawTaints(t, "theirs") {
					if !slices.ContainsFunc(w.node.Taints, func(is corev1.Taint) bool { return idOn(is) == id(taint) }) && !w.claims(taint) {
						w.node.Taints = append(w.node.Taints, on(taint.Key, taint.Value, corev1.TaintEffect(taint.Effect)))
						w.foreign[id(taint)] = true
					}
				}
			},
			"somebody takes taints away": func(t *rapid.T) {
				w.node.Taints = slices.DeleteFunc(w.node.Taints, func(is corev1.Taint) bool {
					gone := rapid.Bool().Draw(t, "gone")
					if gone {
						delete(w.foreign, idOn(is))
					}
					return gone
				})
			},
			"somebody changes values": func(t *rapid.T) {
				for i := range w.node.Taints {
					w.node.Taints[i].Value = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "value")
				}
			},
			"somebody removes the annotation": func(*rapid.T) {
				if !w.behind { // or nobody knows any more whose the taints are
					delete(w.node.Annotations, v1beta1.AnnotationAppliedTaints)
				}
			},
			"we write both": func(t *rapid.T) { w.recorded, w.behind = w.write(t).Owned, false },
			"we write the Node and crash": func(t *rapid.T) {
				w.write(t)
				w.behind = true
			},
			"": w.check,
		})
	})
}

// claims reports whether a taint is ours by the record, on the Node or not.
func (w *world) claims(taint v1beta1.NodeTaint) bool {
	before := *w.node
	before.Taints = append(slices.Clone(before.Taints), on(taint.Key, taint.Value, corev1.TaintEffect(taint.Effect)))
	plan := taints.Make([]v1beta1.NodeTaint{taint}, w.recorded, &before)
	return len(plan.Conflicts) == 0
}

// write carries a plan out as the API server would.
func (w *world) write(t *rapid.T) taints.Plan {
	plan := taints.Make(w.wanted, w.recorded, w.node)
	w.node = taints.CarryOut(plan)
	again := taints.Make(w.wanted, plan.Owned, w.node)
	if again.Pending() {
		t.Fatalf("a plan that was carried out leaves one: %+v, then %+v", plan, again)
	}
	return plan
}

// check looks at the plan for the world as it is.
func (w *world) check(t *rapid.T) {
	plan := taints.Make(w.wanted, w.recorded, w.node)
	after := map[string]corev1.Taint{}
	for _, taint := range plan.Taints {
		if _, twice := after[idOn(taint)]; twice {
			t.Fatalf("%s twice in %v", idOn(taint), plan.Taints)
		}
		after[idOn(taint)] = taint
	}
	for _, taint := range w.node.Taints {
		if now, still := after[idOn(taint)]; w.foreign[idOn(taint)] && (!still || now != taint) {
			t.Fatalf("the foreign taint %v became %v", taint, now)
		}
	}
	owned := map[string]bool{}
	for _, taint := range plan.Owned {
		owned[id(taint)] = true
		if after[id(taint)].Value != taint.Value || w.foreign[id(taint)] {
			t.Fatalf("%v is called ours and is not so on the Node: %v", taint, plan.Taints)
		}
	}
	conflicts := map[string]bool{}
	for _, conflict := range plan.Conflicts {
		conflicts[id(conflict.Wanted)] = true
		if !w.foreign[id(conflict.Wanted)] {
			t.Fatalf("%v conflicts with a taint of ours", conflict.Wanted)
		}
	}
	for _, taint := range w.wanted {
		if owned[id(taint)] == conflicts[id(taint)] {
			t.Fatalf("%v is neither on the Node nor in conflict, or both", taint)
		}
	}
	for key := range after {
		if !owned[key] && !w.foreign[key] {
			t.Fatalf("%s stays though nobody wants it", key)
		}
	}
}
