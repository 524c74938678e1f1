// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// worthLooking passes every event but the echo of our own status writes.
func worthLooking(written *memory) predicate.TypedPredicate[*unstructured.Unstructured] {
	return predicate.TypedFuncs[*unstructured.Unstructured]{
		UpdateFunc: func(e event.TypedUpdateEvent[*unstructured.Unstructured]) bool {
			return !onlyStatusChanged(e.ObjectOld, e.ObjectNew) || !written.ours(e.ObjectNew)
		},
	}
}

// onlyStatusChanged reports whether two states of a name differ, and differ in
// the status alone. An object that was deleted and created anew between two
// looks of the watch arrives as an update, with another UID.
func onlyStatusChanged(before, after *unstructured.Unstructured) bool {
	return before.GetUID() == after.GetUID() &&
		before.GetResourceVersion() != after.GetResourceVersion() &&
		before.GetGeneration() == after.GetGeneration() &&
		before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) &&
		reflect.DeepEqual(before.GetLabels(), after.GetLabels()) &&
		reflect.DeepEqual(before.GetAnnotations(), after.GetAnnotations())
}
