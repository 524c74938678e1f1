// SPDX-License-Identifier: Apache-2.0

package activation

import "k8s.io/apimachinery/pkg/types"

// OnWake has wake called for every key that gets a place otherwise than by asking.
func OnWake(g *Gate, wake func(types.NamespacedName)) { g.onWake(wake) }
