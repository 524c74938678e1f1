// SPDX-License-Identifier: Apache-2.0

// Package scaffold does what an author does with `fivespot provider`: writes a
// provider, builds it, tests it, and runs it under its own account against a
// real API server.
package scaffold
