// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/internal/workload"
)

// A watch's event is looked at while the one before it may still be on its way to the
// store, as it is on a busy machine.
func TestTheLimitHoldsForANodeThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	const limit = 20_000
	numbered := func(i int) *corev1.Node {
		name := strconv.Itoa(i)
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(i + 1)}}
	}
	store := workload.NewNodeStore()
	act := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	act("list", store.Replace(nil, "1"))
	for i := range limit {
		if !store.Admit(numbered(i)) {
			t.Fatalf("there is no room for Node %d", i)
		}
		if i > 0 {
			act("add", store.Add(numbered(i-1)))
		}
	}
	last, further := numbered(limit-1), numbered(limit)
	if store.Admit(further) {
		t.Error("there is room for one more while the last is on its way")
	}
	changed := last.DeepCopy()
	changed.ResourceVersion = strconv.Itoa(limit + 1)
	if !store.Admit(changed) {
		t.Error("there is no room for a change of the last")
	}
	act("add", store.Add(last))
	act("update", store.Update(changed))
	if store.Admit(further) {
		t.Error("there is room for one more than the limit")
	}
	if !store.Admit(numbered(0)) {
		t.Error("there is no room for a change")
	}
	act("delete", store.Delete(changed))
	if !store.Admit(further) {
		t.Error("a Node that went leaves no room")
	}
	act("add", store.Add(further))
	act("list", store.Replace(nil, "2"))
	if !store.Admit(further) || store.Kept() != 0 {
		t.Errorf("%d Nodes are kept after an empty list", store.Kept())
	}
	act("add", store.Add(further))
	act("delete", store.Delete(further))
	if !store.Admit(last) || store.Kept() != 0 {
		t.Errorf("%d Nodes are kept after the last went", store.Kept())
	}
}
