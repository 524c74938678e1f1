// SPDX-License-Identifier: Apache-2.0

package kinds

import "regexp"

var numbers = regexp.MustCompile(`[0-9]+`)

// newFailure reports whether a failure is news after another, nil for none. One that
// differs in numbers only is not: each connection has another port. Whoever reads a
// failure writes it down, and would do so with every try.
func newFailure(before, now error) bool {
	return before == nil || numbers.ReplaceAllString(before.Error(), "0") != numbers.ReplaceAllString(now.Error(), "0")
}
