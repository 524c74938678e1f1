// SPDX-License-Identifier: Apache-2.0

package workload

import (
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
