// SPDX-License-Identifier: Apache-2.0

// Package scheduledmachine makes each ScheduledMachine's Cluster API machine
// follow its schedule.
//
// A reconcile reads what is known (observe.go), takes the schedule's verdict into
// the record (record.go), decides what is wanted (want.go) and the one next step
// towards it (step.go), takes that step (act.go), looks after the node (node.go,
// drain.go) and writes down what a person should see (describe.go). All but
// reading and acting are pure functions of values and one instant.
//
// Two rules keep machines safe. A verdict is acted upon only once it stands in
// the ScheduledMachine's own status, so that no crash can lose it. And a Machine
// is never deleted without looking at the ScheduledMachine on the API server
// itself.
//
// The package imports api and internal/{activation,alarm,capi,drain,kinds,
// schedules,shard,taints,workload}. It knows a provider only as a kind and a status.
package scheduledmachine
