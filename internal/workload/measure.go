// SPDX-License-Identifier: Apache-2.0

package workload

// No more is kept of one cluster's Nodes, since whoever names a cluster may have it
// say what they like: four times as many as Kubernetes is made for, of some 3 KiB
// each. A real one takes a few hundred bytes.
const (
	nodeLimit     = 20_000
	nodeByteLimit = 64 << 20
)

// nodeMeasure is how much Nodes take up.
type nodeMeasure struct{ count, bytes int }

func (m nodeMeasure) with(node *Node) nodeMeasure {
	return nodeMeasure{m.count + 1, m.bytes + node.size()}
}

func (m nodeMeasure) without(node *Node) nodeMeasure {
	return nodeMeasure{m.count - 1, m.bytes - node.size()}
}

func (m nodeMeasure) tooMuch() bool { return m.count > nodeLimit || m.bytes > nodeByteLimit }

// size is about how many bytes a Node takes up.
func (n *Node) size() int {
	const itself, taintItself = 256, 80
	size := itself + len(n.Name) + len(n.UID) + len(n.ResourceVersion) + len(n.ProviderID) + len(n.TaintsWrittenBy)
	for i := range n.Taints {
		size += taintItself + len(n.Taints[i].Key) + len(n.Taints[i].Value) + len(n.Taints[i].Effect)
	}
	for key, value := range n.Annotations {
		size += len(key) + len(value)
	}
	return size
}
