// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// SetPatience has servers of kubeconfigs given up sooner.
func SetPatience(c *Clusters, answer, ping time.Duration) {
	c.patience.answer, c.patience.pingAfter, c.patience.ping = answer, ping, ping
}

// SetWatchPatience has watches that begin from now on last no longer than d.
func SetWatchPatience(c *Clusters, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.patience.watch = d
}

// ParseKubeconfig says what comes of a kubeconfig: its server, or why none.
func ParseKubeconfig(content []byte) (server, reason, message string) {
	key := secretKey{key: defaultKey}
	key.Name = "rack-kubeconfig"
	config, why := parseKubeconfig(content, key)
	if why != nil {
		return "", why.reason, why.message
	}
	return config.Host, "", ""
}

// ReduceNode strips a Node of what is not remembered.
func ReduceNode(node *corev1.Node) { reduceNode(node) }

// Filter passes a watch's events on.
func Filter(w watch.Interface) watch.Interface { return newFiltered(w, (&follower{}).filter) }

// NodeStore keeps Nodes in a test.
type NodeStore struct{ *nodeStore }

// NewNodeStore returns one that has yet to see a list.
func NewNodeStore() NodeStore {
	return NodeStore{newNodeStore(&sync.Mutex{}, func([]string) {})}
}

// Admit reports whether there is room for a Node that a watch brings.
func (s NodeStore) Admit(node *corev1.Node) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admit(NodeOf(node))
}

// Kept is how many Nodes are kept.
func (s NodeStore) Kept() int { return len(s.nodes) }
