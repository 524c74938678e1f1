// SPDX-License-Identifier: Apache-2.0

// Package schedules knows what every schedule object says: one informer for
// each kind of the API group, started and stopped as the CRDs come and go.
//
// Of an object it keeps the verdict and nothing else, so that no caller can read
// a provider's spec even by accident. It imports api and internal/kinds.
package schedules
