// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// ticket is a place in the line.
type ticket struct {
	key      types.NamespacedName
	priority int
	since    time.Time
}

// compare orders tickets: highest priority first, then whoever has waited
// longest, then by namespace and name.
func compare(a, b ticket) int {
	return cmp.Or(
		cmp.Compare(b.priority, a.priority),
		a.since.Compare(b.since),
		strings.Compare(a.key.Namespace, b.key.Namespace),
		strings.Compare(a.key.Name, b.key.Name),
	)
}

// line holds at most one ticket per key, in order. Its zero value is empty.
type line struct {
	tickets []ticket
	byKey   map[types.NamespacedName]ticket
}

// put adds a ticket, in place of any that its key has.
func (l *line) put(t ticket) {
	if old, ok := l.byKey[t.key]; ok {
		if compare(old, t) == 0 {
			return
		}
		l.remove(t.key)
	}
	at, _ := slices.BinarySearchFunc(l.tickets, t, compare)
	l.tickets = slices.Insert(l.tickets, at, t)
	if l.byKey == nil {
		l.byKey = map[types.NamespacedName]ticket{}
	}
	l.byKey[t.key] = t
}

// remove takes the ticket of a key out, if it has one.
func (l *line) remove(key types.NamespacedName) {
	if at, ok := l.position(key); ok {
		l.tickets = slices.Delete(l.tickets, at, at+1)
		delete(l.byKey, key)
	}
}

// position returns how many are ahead of a key, or false when it has no ticket.
func (l *line) position(key types.NamespacedName) (int, bool) {
	t, ok := l.byKey[key]
	if !ok {
		return 0, false
	}
	return slices.BinarySearchFunc(l.tickets, t, compare)
}

// pop takes the first ticket out; false when there is none.
func (l *line) pop() (ticket, bool) {
	if len(l.tickets) == 0 {
		return ticket{}, false
	}
	first := l.tickets[0]
	l.remove(first.key)
	return first, true
}
