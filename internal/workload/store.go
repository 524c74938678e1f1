// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// secretStore passes on what is seen of one Secret.
type secretStore struct {
	changed func(*corev1.Secret) // nil: there is none
}

var _ cache.ReflectorStore = (*secretStore)(nil)

// Add implements cache.ReflectorStore.
func (s *secretStore) Add(object any) error {
	if secret, ok := object.(*corev1.Secret); ok {
		s.changed(secret)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (s *secretStore) Update(object any) error { return s.Add(object) }

// Delete implements cache.ReflectorStore.
func (s *secretStore) Delete(any) error {
	s.changed(nil)
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *secretStore) Replace(objects []any, _ string) error {
	if len(objects) == 0 {
		return s.Delete(nil)
	}
	return s.Add(objects[0])
}

// Resync implements cache.ReflectorStore.
func (s *secretStore) Resync() error { return nil }

// nodeStore keeps what is remembered of a cluster's Nodes.
type nodeStore struct {
	mu      *sync.Mutex          // guards the rest
	changed func(names []string) // called without the mutex
	nodes   map[string]*Node     // nil until all were seen once
	measure nodeMeasure          // of nodes
	// admitted is the last Node of a watch for which there was room: it may still be on
	// its way here when the next one is looked at.
	admitted *Node
}

var _ cache.ReflectorStore = (*nodeStore)(nil)

func newNodeStore(mu *sync.Mutex, changed func([]string)) *nodeStore {
	return &nodeStore{mu: mu, changed: changed}
}

// get returns a Node, nil if there is none. The caller holds the mutex.
func (s *nodeStore) get(name string) (node *Node, synced bool) {
	return s.nodes[name], s.nodes != nil
}

// admit reports whether there is room for a Node that a watch brings, and if so counts
// with it. The caller holds the mutex.
func (s *nodeStore) admit(node *Node) bool {
	if !s.fits(node) {
		return false
	}
	s.admitted = node
	return true
}

// fits reports whether there is room for a Node beside those that are here and the one
// that may be on its way. The caller holds the mutex.
func (s *nodeStore) fits(node *Node) bool {
	after := s.replaced(s.measure, node)
	if other := s.admitted; other != nil && other.Name != node.Name {
		after = s.replaced(after, other)
	}
	return !after.tooMuch()
}

// replaced is a measure with a Node in place of the one of its name, if any.
func (s *nodeStore) replaced(m nodeMeasure, node *Node) nodeMeasure {
	if before := s.nodes[node.Name]; before != nil {
		m = m.without(before)
	}
	return m.with(node)
}

// wrote takes in a Node that a write returned. The caller holds the mutex.
func (s *nodeStore) wrote(node *corev1.Node) {
	if current := s.nodes[node.Name]; current != nil && current.UID == node.UID {
		if now := NodeOf(node); s.fits(now) {
			s.put(now)
		}
	}
}

// put keeps a Node unless a later state of it is kept already, and reports
// whether anything that matters changed.
func (s *nodeStore) put(node *Node) bool {
	before := s.nodes[node.Name]
	if before != nil && before.UID == node.UID {
		order, err := resourceversion.CompareResourceVersion(node.ResourceVersion, before.ResourceVersion)
		if err == nil && order < 0 {
			return false
		}
	}
	s.measure = s.replaced(s.measure, node)
	s.nodes[node.Name] = node
	return before == nil || !before.same(node)
}

// Add implements cache.ReflectorStore.
func (s *nodeStore) Add(object any) error {
	node, ok := object.(*corev1.Node)
	if !ok {
		return nil
	}
	s.mu.Lock()
	changed := s.nodes != nil && s.put(NodeOf(node))
	s.mu.Unlock()
	if changed {
		s.changed([]string{node.Name})
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (s *nodeStore) Update(object any) error { return s.Add(object) }

// Delete implements cache.ReflectorStore.
func (s *nodeStore) Delete(object any) error {
	node, ok := object.(*corev1.Node)
	if !ok {
		return nil
	}
	s.mu.Lock()
	was := s.nodes[node.Name]
	if was != nil {
		delete(s.nodes, node.Name)
		s.measure = s.measure.without(was)
	}
	if s.admitted != nil && s.admitted.UID == node.UID {
		s.admitted = nil
	}
	s.mu.Unlock()
	if was != nil {
		s.changed([]string{node.Name})
	}
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *nodeStore) Replace(objects []any, _ string) error {
	s.mu.Lock()
	before := s.nodes
	s.nodes, s.measure, s.admitted = make(map[string]*Node, len(objects)), nodeMeasure{}, nil
	var changed []string
	for _, object := range objects {
		node, ok := object.(*corev1.Node)
		if !ok {
			continue
		}
		now := NodeOf(node)
		s.put(now)
		if was := before[node.Name]; was == nil || !was.same(now) {
			changed = append(changed, node.Name)
		}
	}
	for name := range before {
		if s.nodes[name] == nil {
			changed = append(changed, name)
		}
	}
	s.mu.Unlock()
	s.changed(changed)
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *nodeStore) Resync() error { return nil }
