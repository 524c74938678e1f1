// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/drain"
)

// Options of a drain.
type Options struct {
	// UID is the Node's. A Node of the same name with another UID is another one,
	// and is not touched.
	UID types.UID
	// Now is the present instant.
	Now time.Time
	// Evictions is how many pods are asked to go in one step at most. Zero: 100.
	Evictions int
	// Time is how long a step goes on to ask more pods to go, however slow the API
	// server is to answer for each; one is always asked. Zero: 10 seconds, Cluster API's.
	Time time.Duration
}

// Progress is how far a drain has come.
type Progress struct {
	// Done is true when nothing is left to wait for, or the Node is gone.
	Done bool
	// Leaving are pods that were asked to go and have yet to end.
	Leaving []Pod
	// Blocked are pods that cannot be asked to go yet.
	Blocked []Pod
	// Waiting are pods that are left to end by themselves, as their label asks.
	Waiting []Pod
	// Untried is how many pods are left for the next step.
	Untried int
	// Evictions is what came of asking pods to go in this step.
	Evictions Evictions
}

// Evictions counts the pods that were asked to go by what the API server answered.
// A pod that was gone by then is not among them.
type Evictions struct {
	// Accepted were let go.
	Accepted int
	// Refused have to stay for now: they are Blocked.
	Refused int
	// Failed got another answer, and are Blocked too, or none, which ends the step.
	Failed int
}

// Pod is a pod that a drain waits for.
type Pod struct {
	Namespace, Name string
	// Why says in words why the pod is Blocked; empty otherwise.
	Why string
}

// Step cordons a Node, asks the pods that can go to go, and returns how far the
// drain has come. It asks each pod once, and a blocked one anew in each step. The
// error is why the cluster could not be asked; the progress then says nothing but
// its Evictions.
func Step(ctx context.Context, client kubernetes.Interface, name string, options Options) (Progress, error) {
	options.applyDefaults()
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && node.UID != options.UID {
		return Progress{Done: true}, nil
	}
	if err != nil {
		return Progress{}, fmt.Errorf("reading Node %s: %w", name, err)
	}
	daemonSets := &reader{Interface: client}
	helper := newHelper(ctx, daemonSets, node, options.Now)
	if err := cordon(ctx, client, node); err != nil {
		return Progress{}, err
	}
	list, errs := helper.GetPodsForDeletion(name)
	if daemonSets.err != nil {
		return Progress{}, fmt.Errorf("reading the DaemonSets of pods of Node %s: %w", name, daemonSets.err)
	}
	if len(errs) > 0 {
		return Progress{}, fmt.Errorf("listing the pods of Node %s: %w", name, errors.Join(errs...))
	}
	return evict(helper, list.Pods(), options)
}

func (o *Options) applyDefaults() {
	if o.Evictions == 0 {
		o.Evictions = 100
	}
	if o.Time == 0 {
		o.Time = 10 * time.Second
	}
}

func cordon(ctx context.Context, client kubernetes.Interface, node *corev1.Node) error {
	helper := drain.NewCordonHelper(node)
	if !helper.UpdateIfRequired(true) {
		return nil
	}
	if err, patchErr := helper.PatchOrReplaceWithContext(ctx, client, false); err != nil || patchErr != nil {
		return fmt.Errorf("cordoning Node %s: %w", node.Name, errors.Join(err, patchErr))
	}
	return nil
}

// newHelper returns kubectl's helper with Cluster API's settings.
func newHelper(ctx context.Context, client kubernetes.Interface, node *corev1.Node, now time.Time) *drain.Helper {
	helper := &drain.Helper{
		Ctx: ctx, Client: client,
		Force: true, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true,
		GracePeriodSeconds: -1, // each pod's own
		Out:                io.Discard, ErrOut: io.Discard,
		AdditionalFilters: []drain.PodFilter{skipByLabel},
	}
	if unreachable(node) {
		// Nobody there ends a pod: it is deleted, and then no longer waited for.
		helper.GracePeriodSeconds = 1
		helper.AdditionalFilters = append(helper.AdditionalFilters, skipLeaving(now))
	}
	return helper
}

func unreachable(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if condition := &node.Status.Conditions[i]; condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionUnknown
		}
	}
	return false
}

// evict asks pods to go and sorts them by what came of it.
func evict(helper *drain.Helper, pods []corev1.Pod, options Options) (Progress, error) {
	var progress Progress
	asked := 0
	inTime, cancel := context.WithTimeout(helper.Ctx, options.Time)
	defer cancel()
	for i := range pods {
		pod := Pod{Namespace: pods[i].Namespace, Name: pods[i].Name}
		switch {
		case pods[i].DeletionTimestamp != nil:
			progress.Leaving = append(progress.Leaving, pod)
			continue
		case waits(&pods[i]):
			progress.Waiting = append(progress.Waiting, pod)
			continue
		case asked == options.Evictions, asked > 0 && inTime.Err() != nil:
			progress.Untried++
			continue
		}
		asked++
		err := helper.EvictPod(pods[i], policyv1.SchemeGroupVersion)
		if apierrors.IsNotFound(err) && !unsupported(err) {
			continue
		}
		if err == nil {
			progress.Evictions.Accepted++
			progress.Leaving = append(progress.Leaving, pod)
			continue
		}
		if !block(&progress, pod, err) {
			return Progress{Evictions: progress.Evictions}, fmt.Errorf("evicting pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	progress.Done = len(progress.Leaving)+len(progress.Blocked)+len(progress.Waiting)+progress.Untried == 0
	return progress, nil
}

// block takes in why a pod was not evicted, and reports whether it is worth asking
// the next one: not if the cluster does not answer, nor if it evicts none.
func block(p *Progress, pod Pod, err error) bool {
	why, is := refused(err)
	if is {
		p.Evictions.Refused++
	} else {
		p.Evictions.Failed++
		if why, is = failed(err); !is {
			return false
		}
	}
	pod.Why = why
	p.Blocked = append(p.Blocked, pod)
	return true
}
