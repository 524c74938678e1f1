// SPDX-License-Identifier: Apache-2.0

package sdk

import "time"

// WithKindCheck sets how often is asked for a kind that is not served yet.
func WithKindCheck(every time.Duration) Option {
	return func(o *options) { o.kindCheckEvery = every }
}
