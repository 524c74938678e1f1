// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fivespot/fivespot/sdk"
)

// choose returns the providers of the kinds in a comma-separated list, each once.
func choose(known []*sdk.Provider, list string) ([]*sdk.Provider, error) {
	var chosen []*sdk.Provider
	for kind := range strings.SplitSeq(list, ",") {
		kind = strings.TrimSpace(kind)
		if kind == "" {
			continue
		}
		i := slices.IndexFunc(known, func(p *sdk.Provider) bool { return p.Kind().Kind == kind })
		if i < 0 {
			return nil, fmt.Errorf("--kinds: there is no kind %q; known kinds: %s", kind, names(known))
		}
		if !slices.Contains(chosen, known[i]) {
			chosen = append(chosen, known[i])
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--kinds names no kind; known kinds: %s", names(known))
	}
	return chosen, nil
}

func names(known []*sdk.Provider) string {
	var kinds []string
	for _, provider := range known {
		kinds = append(kinds, provider.Kind().Kind)
	}
	return strings.Join(kinds, ", ")
}
