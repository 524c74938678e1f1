// SPDX-License-Identifier: Apache-2.0

// Package activation decides which machines may start now, and in which order.
//
// A [Gate] bounds how many machines come up at a time, so that an opening bell
// does not stampede an infrastructure provider. A machine holds a place from the
// creation of its Machine until that runs, fails or is taken down; the others
// wait in a line: highest priority first, then whoever has waited longest, then
// by name. Nothing in it is random and nothing polls: a place that becomes free
// wakes the first in the line.
//
// What the gate knows is only in memory. After a restart it is told again by the
// reconciles that a start causes, and it lets nobody in before it has heard of
// everything that exists: see [Gate.Expect].
//
// [NewQueue] has a controller work on its objects in the order of their
// priority.
//
// The package imports client-go, controller-runtime and Prometheus's client;
// nothing of this module.
package activation
