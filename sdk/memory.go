// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// memory remembers the last status written to each object, to tell our own
// writes from those of others when the watch brings them, and to leave alone a
// status in which the API server does not keep all that is written (a CRD
// whose schema lacks a field).
type memory struct {
	mu      sync.Mutex
	written map[types.NamespacedName]writing
}

type writing struct {
	uid types.UID
	// sent is the status that was asked for; stored what the API server made of
	// it, nil before it has answered.
	sent, stored map[string]any
}

func newMemory() *memory {
	return &memory{written: map[types.NamespacedName]writing{}}
}

// sending notes a status before it is written, since the watch may bring it
// back before the answer comes.
func (m *memory) sending(object *unstructured.Unstructured, status map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written[nameOf(object)] = writing{uid: object.GetUID(), sent: status}
}

// stored notes the object as the API server answered.
func (m *memory) stored(object *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.written[nameOf(object)]
	w.stored = rawStatus(object)
	m.written[nameOf(object)] = w
}

// settled reports whether status was written already and the object holds all
// that the API server keeps of it.
func (m *memory) settled(object *unstructured.Unstructured, status map[string]any) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.written[nameOf(object)]
	return ok && w.uid == object.GetUID() && w.stored != nil &&
		reflect.DeepEqual(w.sent, status) && reflect.DeepEqual(w.stored, rawStatus(object))
}

// ours reports whether the object's status is the one that was written last.
func (m *memory) ours(object *unstructured.Unstructured) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.written[nameOf(object)]
	status := rawStatus(object)
	return ok && w.uid == object.GetUID() &&
		(reflect.DeepEqual(w.sent, status) || reflect.DeepEqual(w.stored, status))
}

func (m *memory) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.written, name)
}

func nameOf(object *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// rawStatus returns .status as it is stored; nil when there is none.
func rawStatus(object *unstructured.Unstructured) map[string]any {
	status, _ := object.Object["status"].(map[string]any)
	return status
}
