// SPDX-License-Identifier: Apache-2.0

package alarm

import "time"

type entry[K comparable] struct {
	key   K
	at    time.Time
	set   uint64
	index int
}

// entries is a heap (container/heap) with the earliest instant first. Its
// elements are *entry[K].
type entries[K comparable] []*entry[K]

func (e entries[K]) Len() int { return len(e) }

func (e entries[K]) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].set < e[j].set
}

func (e entries[K]) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].index, e[j].index = i, j
}

func (e *entries[K]) Push(x any) {
	added := x.(*entry[K]) //nolint:forcetypeassert // the heap is ours, and so are its elements
	added.index = len(*e)
	*e = append(*e, added)
}

func (e *entries[K]) Pop() any {
	last := len(*e) - 1
	removed := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return removed
}
