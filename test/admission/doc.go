// SPDX-License-Identifier: Apache-2.0

// Package admission checks on a real API server, with users who have real
// rights, what the schemas and the policies of deploy/ refuse, what they say
// then, and what they must never stand in the way of.
package admission
