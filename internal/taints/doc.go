// SPDX-License-Identifier: Apache-2.0

// Package taints keeps the taints of spec.nodeTaints on a machine's Node.
//
// [Make] decides, of values alone, what has to be written; [Apply] writes it;
// [Condition] says what came of it.
//
// A Node's list of taints is one value to the API server (its listType is
// atomic), so that neither server-side apply nor managed fields tell whose a
// single taint is. Whose it is therefore stands in an annotation of the Node,
// written in the same request as the taints, and in the ScheduledMachine's
// status. Every write carries the whole list and the resource version that it
// was read at: it takes nothing away from anybody who wrote in between. See
// docs/decisions/0013-taints-are-written-as-a-whole.md.
//
// The package imports api/v1beta1 and internal/workload.
package taints
