// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"
	"strings"
)

// namedPods bounds how many pods of a kind a message names.
const namedPods = 3

// Message says in words what a drain is waiting for; what is in the way comes
// first. It names a few pods of each kind and counts the others.
func (p Progress) Message() string {
	var parts []string
	for _, group := range []struct {
		pods []Pod
		what string
	}{
		{p.Blocked, "cannot be evicted"},
		{p.Waiting, "to complete"},
		{p.Leaving, "to end"},
	} {
		if len(group.pods) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", names(group.pods), group.what))
		}
	}
	if p.Untried > 0 {
		parts = append(parts, fmt.Sprintf("%d more to be asked", p.Untried))
	}
	if len(parts) == 0 {
		return "No pod is left to wait for"
	}
	return "Waiting for pods: " + strings.Join(parts, "; ")
}

func names(pods []Pod) string {
	var all []string
	for _, pod := range pods[:min(len(pods), namedPods)] {
		name := pod.Namespace + "/" + pod.Name
		if pod.Why != "" {
			name += " (" + pod.Why + ")"
		}
		all = append(all, name)
	}
	text := strings.Join(all, ", ")
	if more := len(pods) - len(all); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
