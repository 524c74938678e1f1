// SPDX-License-Identifier: Apache-2.0

package conformance

import "slices"

// Ids of checks that others rest on.
const (
	idAppears  = "status-appears"
	idBoolean  = "status-active-boolean"
	idActive   = "active-verdict"
	idInactive = "inactive-verdict"
	idFollows  = "follows-edits"
	idInvalid  = "invalid-keeps-verdict"
	idRecovers = "invalid-recovers"
	idMany     = "many-objects"
	idIdle     = "idle-quiet"
	idMoves    = "transition-time-moves"
)

// behaviourChecks look at what the provider does. Those that need peace come
// after those that make objects, so that they see many objects at peace.
func behaviourChecks() []Check {
	checks := slices.Concat(
		verdictChecks(), formChecks(), undecidedChecks(), editChecks(), objectChecks(), quietChecks(), traceChecks())
	for i := range checks {
		check := &checks[i]
		check.Group = GroupBehaviour
		check.uses = append([]given{givenOn}, check.uses...)
	}
	return checks
}
