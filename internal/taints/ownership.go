// SPDX-License-Identifier: Apache-2.0

package taints

import (
	"encoding/json"
	"strings"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// owned returns whose of a Node's taints are ours: those that the status or the
// Node's annotation says are. Either may be behind the other, when the process
// ended between the two writes.
func owned(recorded []v1beta1.NodeTaint, annotation string) map[id]bool {
	ours := map[id]bool{}
	for _, taint := range recorded {
		ours[idOf(taint)] = true
	}
	for _, taint := range parseOwned(annotation) {
		ours[id{taint.Key, taint.Effect}] = true
	}
	for key := range ours {
		if reserved(key.key) {
			delete(ours, key)
		}
	}
	return ours
}

// reservedPrefixes begin keys that a spec cannot have, so that no annotation,
// whoever wrote it, makes us take away a taint of Kubernetes.
var reservedPrefixes = []string{"5spot.finos.org/", "kubernetes.io/", "node.kubernetes.io/", "node-role.kubernetes.io/"}

func reserved(key string) bool {
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// ownedTaint is an entry of the annotation.
type ownedTaint struct {
	Key    string              `json:"key"`
	Effect v1beta1.TaintEffect `json:"effect"`
}

// formatOwned returns the annotation for taints that are sorted; empty for none.
func formatOwned(taints []v1beta1.NodeTaint) string {
	if len(taints) == 0 {
		return ""
	}
	list := make([]ownedTaint, 0, len(taints))
	for _, taint := range taints {
		list = append(list, ownedTaint{taint.Key, taint.Effect})
	}
	text, err := json.Marshal(list)
	if err != nil { // two strings cannot fail
		return ""
	}
	return string(text)
}

// parseOwned reads the annotation. What cannot be read says nothing, as a Node's
// annotations are not ours alone to write.
func parseOwned(annotation string) []ownedTaint {
	var list []ownedTaint
	if json.Unmarshal([]byte(annotation), &list) != nil {
		return nil
	}
	return list
}
