// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
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
	// base is the version of the object that the status was made for; version that
	// of the object with the status, empty before the API server has answered.
	base, version string
}

func newMemory() *memory {
	return &memory{written: map[types.NamespacedName]writing{}}
}

// sending notes a status before it is written, since the watch may bring it
// back before the answer comes.
func (m *memory) sending(object *unstructured.Unstructured, status map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written[nameOf(object)] = writing{uid: object.GetUID(), sent: status, base: object.GetResourceVersion()}
}

// stored notes the object as the API server answered.
func (m *memory) stored(object *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.written[nameOf(object)]
	w.stored, w.version = rawStatus(object), object.GetResourceVersion()
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

// behind reports whether the object is older than the last write to it, which the
// watch has yet to bring.
func (m *memory) behind(object *unstructured.Unstructured) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.written[nameOf(object)]
	return ok && w.uid == object.GetUID() && w.version != "" && older(object.GetResourceVersion(), w.version)
}

// older reports whether a version is known to come before another.
func older(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order < 0
}

// ours reports whether the object's status is the one that was written last, or was
// there before it: the API server takes a status only from who knows the last one.
func (m *memory) ours(object *unstructured.Unstructured) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.written[nameOf(object)]
	status := rawStatus(object)
	version := object.GetResourceVersion()
	return ok && w.uid == object.GetUID() && (version == w.base || older(version, w.base) ||
		reflect.DeepEqual(w.sent, status) || reflect.DeepEqual(w.stored, status))
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
