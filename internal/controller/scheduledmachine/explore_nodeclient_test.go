// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// newNodesClient returns a client of a cluster, which answers what the Reconciler
// asks for and nothing else.
func newNodesClient(n *nodes) kubernetes.Interface {
	client := &fake.Clientset{}
	client.AddReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		object, err := n.answer(action)
		return true, object, err
	})
	return client
}

func (n *nodes) answer(action clienttesting.Action) (answer runtime.Object, err error) {
	resource := action.GetResource().Resource
	if action.GetSubresource() != "" {
		resource += "/" + action.GetSubresource()
	}
	switch asked := action.(type) {
	case clienttesting.GetActionImpl:
		return n.get()
	case clienttesting.ListActionImpl:
		return n.list(), nil
	case clienttesting.PatchActionImpl:
		err = n.write(func() error {
			answer, err = n.patch(asked.Patch)
			return err
		})
		return answer, err
	case clienttesting.DeleteActionImpl:
		return nil, n.write(func() error { return n.delete(asked.DeleteOptions) })
	case clienttesting.CreateActionImpl:
		if eviction, is := asked.Object.(*policyv1.Eviction); is {
			return nil, n.evict(eviction.Name)
		}
	}
	n.fatalf("the controller asks to %s %s", action.GetVerb(), resource)
	return nil, nil
}

func (n *nodes) get() (*corev1.Node, error) {
	if n.node == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("nodes"), "worker-1")
	}
	return n.node.DeepCopy(), nil
}

func (n *nodes) list() *corev1.PodList {
	list := &corev1.PodList{}
	for _, name := range slices.Sorted(maps.Keys(n.pods)) {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "desk", Name: name}}
		if at := n.pods[name].evicted; !at.IsZero() {
			pod.DeletionTimestamp = new(metav1.NewTime(at))
		}
		list.Items = append(list.Items, pod)
	}
	return list
}

func (n *nodes) patch(patch []byte) (*corev1.Node, error) {
	before, err := n.get()
	if err != nil {
		return nil, err
	}
	after := &corev1.Node{}
	if err := merge(before, patch, after); err != nil {
		return nil, err
	}
	switch {
	case after.UID != before.UID:
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Node"}, before.Name,
			field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), after.UID, "field is immutable")})
	case after.ResourceVersion != before.ResourceVersion:
		return nil, apierrors.NewConflict(corev1.Resource("nodes"), before.Name, errors.New("it has changed"))
	}
	n.checkNode(before, after)
	n.put(after)
	return after.DeepCopy(), nil
}

func (n *nodes) delete(options metav1.DeleteOptions) error {
	node, err := n.get()
	if err != nil {
		return err
	}
	if *options.Preconditions.UID != node.UID {
		return apierrors.NewConflict(corev1.Resource("nodes"), node.Name, errors.New("another UID"))
	}
	n.checkNodeDeletion()
	n.version++
	n.node = nil
	return nil
}

// evict asks a pod to go. One that refuses is no write: nothing has changed.
func (n *nodes) evict(name string) error {
	switch pod := n.pods[name]; {
	case pod == nil:
		return apierrors.NewNotFound(corev1.Resource("pods"), name)
	case pod.refuses:
		return apierrors.NewTooManyRequests("it would violate the pod's disruption budget", 0)
	}
	return n.write(func() error {
		n.checkDrain()
		n.version++
		n.pods[name].evicted = n.clock.Now()
		return nil
	})
}
