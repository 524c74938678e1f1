// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/taints"
	"github.com/fivespot/fivespot/internal/workload"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	type list = []v1beta1.NodeTaint
	desk, spot := of("example.com/desk", "a", noSchedule), of("example.com/spot", "", noExecute)
	theirs := []corev1.Taint{on("example.com/desk", "theirs", noSchedule)}
	const theirWords = "THEIR-WORDS"
	resource := schema.GroupResource{Resource: "nodes"}
	tests := map[string]struct {
		wanted         list
		node           workload.Node
		failure        error
		status, reason string
		message        string
	}{
		"written": {
			list{desk, spot},
			workload.Node{Ready: true},
			nil, "True", "Applied",
			"Node rack has example.com/desk=a:NoSchedule, example.com/spot:NoExecute",
		},
		"none is wanted": {nil, workload.Node{Ready: true}, nil, "True", "Applied", "No taint on Node rack is 5-Spot's"},
		"the Node is not ready": {
			list{desk}, workload.Node{}, nil, "False", "NodeNotReady", "Node rack is not ready yet; its taints are written once it is",
		},
		"the Node is no longer ready and nothing has to be written": {
			nil, workload.Node{Taints: theirs}, nil, "True", "Applied", "No taint on Node rack is 5-Spot's",
		},
		"a conflict": {
			list{desk, spot},
			workload.Node{Ready: true, Taints: theirs, TaintsWrittenBy: "kubectl-taint"},
			nil, "False", "TaintOwnershipConflict",
			"Node rack has a taint of the same key and effect that 5-Spot did not put there (its taints were last written by kubectl-taint): " +
				`example.com/desk=a:NoSchedule, where the value is "theirs". ` +
				"It is left as it is: take it off the Node, or out of spec.nodeTaints",
		},
		"no right": {
			list{desk},
			workload.Node{Ready: true},
			apierrors.NewForbidden(resource, "rack", errors.New(theirWords)), "False", "PatchFailed",
			"The taints of Node rack cannot be written: the API server of the workload cluster does not let the kubeconfig's user patch Nodes (HTTP 403)",
		},
		"a failure over there": {
			list{desk},
			workload.Node{Ready: true},
			fmt.Errorf("wrapped: %w", apierrors.NewGenericServerResponse(http.StatusInternalServerError, "patch", resource, "rack", theirWords, 0, true)),
			"False", "PatchFailed",
			"The taints of Node rack cannot be written: the API server of the workload cluster answers a request to patch Nodes with HTTP 500",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.node.Name = "rack"
			got := taints.Condition(taints.Make(test.wanted, nil, &test.node), test.failure)
			want := metav1.Condition{
				Type: "NodeTainted", Status: metav1.ConditionStatus(test.status), Reason: test.reason, Message: test.message,
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if strings.Contains(got.Message, theirWords) {
				t.Error("it repeats the API server's words")
			}
		})
	}
	if got := taints.NoNode("There is no Node yet"); got.Status != metav1.ConditionUnknown || got.Reason != "NoNodeYet" {
		t.Errorf("without a Node: %+v", got)
	}
}
