// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/test/hardware"
)

const (
	noSchedule = "NoSchedule"
	noExecute  = "NoExecute"
)

// desk is a taint that the tests want.
var desk = v1beta1.NodeTaint{Key: "example.com/desk", Value: "trading", Effect: noSchedule}

// tainted is a machine that is up, with the taints that it was made with.
type tainted struct {
	*hardware.Cluster
	sm   *v1beta1.ScheduledMachine
	node *corev1.Node
}

func newTainted(t *testing.T, c *hardware.Cluster, taints ...v1beta1.NodeTaint) *tainted {
	t.Helper()
	sm := c.Machine(t, "rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeTaints = taints })
	return &tainted{Cluster: c, sm: sm, node: c.AwaitNode(t, sm)}
}

// want sets spec.nodeTaints.
func (m *tainted) want(t *testing.T, taints ...v1beta1.NodeTaint) {
	t.Helper()
	if taints == nil {
		taints = []v1beta1.NodeTaint{}
	}
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"nodeTaints": taints}})
	if err != nil {
		t.Fatal(err)
	}
	hardware.Patch(t, m.Client(), m.sm, string(text))
}

// others sets the taints of the Node as somebody else who knows of no other.
func (m *tainted) others(t *testing.T, taints ...corev1.Taint) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints}})
	if err != nil {
		t.Fatal(err)
	}
	err = m.Workload().Client().Patch(hardware.Context(t), m.node, client.RawPatch(types.MergePatchType, text), client.FieldOwner("somebody"))
	if err != nil {
		t.Fatal(err)
	}
}

// awaitTaints waits until the Node has these taints, KEY=VALUE:EFFECT, and no other.
func (m *tainted) awaitTaints(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	err := await.Object(hardware.Context(t), m.Workload().Client(), m.node, func() error {
		var got []string
		for _, taint := range m.node.Spec.Taints {
			got = append(got, taint.ToString())
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("its taints are %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// awaitCondition waits until a condition has a status and a reason and says all of the words.
func (m *tainted) awaitCondition(t *testing.T, kind string, status metav1.ConditionStatus, reason string, words ...string) {
	t.Helper()
	m.Await(t, m.sm, func() error {
		found := meta.FindStatusCondition(m.sm.Status.Conditions, kind)
		if found == nil {
			return fmt.Errorf("there is no condition %s", kind)
		}
		says := func(word string) bool { return strings.Contains(found.Message, word) }
		if found.Status != status || found.Reason != reason || slices.ContainsFunc(words, func(word string) bool { return !says(word) }) {
			return fmt.Errorf("condition %s is %s %s: %s; want %s %s with %q", kind, found.Status, found.Reason, found.Message, status, reason, words)
		}
		return nil
	})
}
