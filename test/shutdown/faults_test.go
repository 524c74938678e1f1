// SPDX-License-Identifier: Apache-2.0

package shutdown_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/test/hardware"
)

// A fault is something that keeps a machine from going down by itself.
type fault struct {
	// strike sets the fault on a machine that is up.
	strike func(*testing.T, *hardware.Cluster, *corev1.Node)
	// cause is what its ScheduledMachine must say of it.
	cause []string
	// bound is spec.gracefulShutdownTimeout. Zero: short.
	bound time.Duration
}

// untilNoticed is how long Cluster API takes at most to say of a cluster that
// it cannot reach it: 50 s after the last answer, at a look every 10 s.
const untilNoticed = 75 * time.Second

// faults in which Cluster API waits for the node until it is told not to.
var faults = map[string]fault{
	"a budget that never lets go": {
		strike: func(t *testing.T, c *hardware.Cluster, node *corev1.Node) {
			t.Helper()
			c.Budget(t, c.Pod(t, node, "work"), "always-one")
		},
		cause: []string{"work", "budget always-one"},
	},
	"a kubelet that does nothing any more": {
		strike: func(t *testing.T, c *hardware.Cluster, node *corev1.Node) {
			t.Helper()
			c.Pod(t, node, "work")
			c.Workload().HangKubelet(t, node.Name)
		},
		cause: []string{"work", "deletionTimestamp set, but still not removed from the Node"},
	},
	"a pod with a finalizer that nobody removes": {
		strike: func(t *testing.T, c *hardware.Cluster, node *corev1.Node) {
			t.Helper()
			c.Pod(t, node, "work", func(pod *corev1.Pod) {
				pod.Finalizers = []string{"hardware.test/never"}
				pod.Spec.TerminationGracePeriodSeconds = new(int64(3600))
			})
		},
		cause: []string{"work", "deletionTimestamp set, but still not removed from the Node"},
	},
	"a volume that is never detached": {
		strike: attachVolume,
		cause:  []string{"data-of-"},
	},
	"an API server that swallows every request": {
		strike: func(_ *testing.T, c *hardware.Cluster, _ *corev1.Node) { c.Wire.BlackHole() },
		cause:  []string{"cannot reach the workload cluster"},
		bound:  untilNoticed,
	},
	"an API server that refuses connections": {
		strike: func(t *testing.T, c *hardware.Cluster, _ *corev1.Node) {
			t.Helper()
			if err := c.Wire.Refuse(); err != nil {
				t.Fatal(err)
			}
		},
		cause: []string{"cannot reach the workload cluster"},
		bound: untilNoticed,
	},
}

// attachVolume attaches a volume to a node as an attacher does that will never
// be heard of again.
func attachVolume(t *testing.T, c *hardware.Cluster, node *corev1.Node) {
	t.Helper()
	name := "data-of-" + node.Name
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			ClaimRef:    &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "hardware.test", VolumeHandle: name},
			},
		},
	}
	attachment := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "hardware.test", NodeName: node.Name,
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name},
		},
	}
	workload := c.Workload().Client()
	for _, err := range []error{
		workload.Create(t.Context(), volume),
		workload.Create(t.Context(), attachment),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	attachment.Status.Attached = true
	if err := workload.Status().Update(t.Context(), attachment); err != nil {
		t.Fatal(err)
	}
}
