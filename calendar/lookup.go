// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"maps"
	"slices"
)

// exchanges are all the exchanges, by MIC.
var exchanges = register(
	xnys, xnas, xtse, bvmf, xmex, cmes, iepa,
	xlon, xdub, xpar, xams, xbru, xlis, xmil, xosl, xmad,
	xetr, xfra, xswx, xwbo, xwar, xsto, xhel, xcse, xist,
	xtks, xhkg, xshg, xses, xtai, xkls, xbkk, xidx, xbom,
	xasx, xnze, xjse, xtae, xsau,
)

func register(defs ...definition) map[string]*Exchange {
	out := make(map[string]*Exchange, len(defs))
	for _, def := range defs {
		out[def.mic] = newExchange(def)
	}
	return out
}

// Lookup returns the exchange of a MIC, in upper case. It is false where the
// exchange is not known here.
func Lookup(mic string) (*Exchange, bool) {
	e, ok := exchanges[mic]
	return e, ok
}

// MICs returns the codes of all exchanges, sorted.
func MICs() []string { return slices.Sorted(maps.Keys(exchanges)) }
