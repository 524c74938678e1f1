// SPDX-License-Identifier: Apache-2.0

package workload

import "time"

// SetPatience has servers of kubeconfigs given up sooner.
func SetPatience(c *Clusters, answer, ping time.Duration) {
	c.patience = patience{answer: answer, pingAfter: ping, ping: ping}
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
