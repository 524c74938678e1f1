// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

// Union returns the source that is active whenever any of the given ones is;
// never, given none.
func Union(sources ...Source) Source {
	var all union
	for _, source := range sources {
		switch s := source.(type) {
		case always:
			return s
		case union:
			all = append(all, s...)
		default:
			all = append(all, source)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

type union []Source

func (u union) first(at int64) interval {
	found := never
	for _, source := range u {
		next := source.first(at)
		if next.open < found.open {
			found = next
		}
	}
	return found
}

func (u union) regularUntil(at int64) int64 {
	until := int64(forever)
	for _, source := range u {
		until = min(until, source.regularUntil(at))
	}
	return until
}

func (u union) reach() int64 {
	var reach int64
	for _, source := range u {
		reach = max(reach, source.reach())
	}
	return reach
}

func (u union) settled() period {
	settled := period{from: beginning}
	for _, source := range u {
		one := source.settled()
		settled.from = max(settled.from, one.from)
		settled.length = max(settled.length, one.length)
	}
	return settled
}

// Extend returns the source whose every interval opens lead earlier and closes
// lag later than in the given one, in elapsed time. Parts of a second are cut
// off; what is negative counts as zero.
func Extend(source Source, lead, lag time.Duration) Source {
	if _, ok := source.(always); ok || lead < time.Second && lag < time.Second {
		return source
	}
	return &extended{source, wholeSeconds(lead), wholeSeconds(lag)}
}

func wholeSeconds(d time.Duration) int64 { return max(int64(d/time.Second), 0) }

type extended struct {
	Source
	lead, lag int64
}

func (e *extended) first(at int64) interval {
	found := e.Source.first(at - e.lag)
	if found == never {
		return never
	}
	return interval{found.open - e.lead, found.close + e.lag}
}

func (e *extended) reach() int64 { return e.Source.reach() + e.lead + e.lag }

func (e *extended) settled() period { return e.Source.settled().later(e.lag) }

// Bridge returns the source that stays active through every gap of the given one
// that is shorter than shortest, in elapsed time. Parts of a second are cut off.
func Bridge(source Source, shortest time.Duration) Source {
	if _, ok := source.(always); ok || shortest < time.Second {
		return source
	}
	return &bridged{source, wholeSeconds(shortest)}
}

type bridged struct {
	Source
	shortest int64
}

func (b *bridged) first(at int64) interval {
	found := b.Source.first(at - b.shortest)
	for found.close <= at {
		next := b.Source.first(found.close)
		if next == never {
			return never
		}
		if next.open-found.close < b.shortest {
			next.open = min(next.open, found.open)
		}
		found = next
	}
	return found
}

func (b *bridged) reach() int64 { return b.Source.reach() + b.shortest }

func (b *bridged) settled() period { return b.Source.settled().later(b.shortest) }
