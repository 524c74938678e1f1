// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/drain"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// skipByLabel leaves pods alone whose label asks Cluster API to.
func skipByLabel(pod corev1.Pod) drain.PodDeleteStatus {
	if strings.EqualFold(pod.Labels[clusterv1.PodDrainLabel], string(clusterv1.MachineDrainRuleDrainBehaviorSkip)) {
		return drain.MakePodDeleteStatusSkip()
	}
	return drain.MakePodDeleteStatusOkay()
}

// waits reports whether a pod is to end by itself, as its label asks Cluster
// API, which takes wait-completed and WaitCompleted. One that has completed is
// not waited for, as Cluster API would: a Job keeps it for as long as it likes.
func waits(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	label := strings.Replace(pod.Labels[clusterv1.PodDrainLabel], "-", "", 1)
	return strings.EqualFold(label, string(clusterv1.MachineDrainRuleDrainBehaviorWaitCompleted))
}

// leavingPatience is for how long a pod on a node that does not report is waited
// for once it was deleted: as long as Cluster API does.
const leavingPatience = time.Second

// skipLeaving no longer waits for pods that were deleted a while ago.
func skipLeaving(now time.Time) drain.PodFilter {
	return func(pod corev1.Pod) drain.PodDeleteStatus {
		if deleted := pod.DeletionTimestamp; deleted != nil && now.Sub(deleted.Time) > leavingPatience {
			return drain.MakePodDeleteStatusSkip()
		}
		return drain.MakePodDeleteStatusOkay()
	}
}
