// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/process"
)

//go:embed stages.yaml
var stages []byte

// program is where a test of a package in test/ finds kwok.
const program = "../../bin/kwok"

// startKubelets starts kwok, which plays the kubelet of every node.
func startKubelets(ctx context.Context, dir, kubeconfig string) (*process.Process, error) {
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there: run `make build`", program)
	}
	config := filepath.Join(dir, "stages.yaml")
	if err := os.WriteFile(config, stages, 0o600); err != nil {
		return nil, fmt.Errorf("writing what the kubelets do: %w", err)
	}
	return process.Start(ctx, process.Options{
		Name: "kwok",
		Path: program,
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--config=" + config,
			"--manage-all-nodes",
			"--node-lease-duration-seconds=0", // nobody here looks at leases
		},
		Log: filepath.Join(dir, "logs", "kwok.log"),
	})
}

// A pod or node with this label is one whose kubelet has ended. The label is on
// the pods too, so that kwok sees it no later than what happens to them next.
const (
	kubeletLabel   = "hardware.test/kubelet"
	kubeletStopped = "stopped"
)

// endKubelet ends the kubelet of a node without anybody noticing: the node stays
// ready and its pods stay whatever is asked of them. The error is NotFound if
// there is no such node.
func (w *Workload) endKubelet(ctx context.Context, node string) error {
	stopped := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, kubeletLabel, kubeletStopped))
	if err := w.client.Patch(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, stopped); err != nil {
		return fmt.Errorf("ending the kubelet of %s: %w", node, err)
	}
	var pods corev1.PodList
	if err := w.client.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node}); err != nil {
		return fmt.Errorf("ending the kubelet of %s: %w", node, err)
	}
	for i := range pods.Items {
		if err := w.client.Patch(ctx, &pods.Items[i], stopped); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("ending the kubelet of %s: %w", node, err)
		}
	}
	return nil
}

// HangKubelet has the kubelet of a node report and do nothing else any more:
// the node stays ready, and its pods never end.
func (w *Workload) HangKubelet(t testing.TB, node string) {
	t.Helper()
	if err := w.endKubelet(Context(t), node); err != nil {
		t.Fatal(err)
	}
}

// StopKubelet ends the kubelet of a node, and says of the node what Kubernetes'
// node lifecycle controller does then.
func (w *Workload) StopKubelet(t testing.TB, node string) {
	t.Helper()
	w.HangKubelet(t, node)
	lost := `{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status."}]}}`
	err := w.client.Status().Patch(Context(t), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}},
		client.RawPatch(types.StrategicMergePatchType, []byte(lost)))
	if err != nil {
		t.Fatal(err)
	}
}
