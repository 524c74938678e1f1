// SPDX-License-Identifier: Apache-2.0

// Package hardware gives the tests of a package machines that behave as real
// ones do where the in-memory machines of Cluster API cannot: pods that are
// evicted or refuse to be, disruption budgets, kubelets that die, workload
// clusters that go away.
//
//	func TestMain(m *testing.M) { hardware.Main(m, hardware.Options{}) }
//
//	func TestSomething(t *testing.T) {
//		cluster := hardware.NewCluster(t)
//		machine := cluster.Machine(t, "rack")
//		...
//	}
//
// What is real: two kube-apiservers (management and workload), the controllers
// that a drain needs (disruption, garbage collector, namespaces), Cluster API's
// managers, our controller and provider as their service accounts. What is
// played: the kubelets, by kwok, and the hardware, by two kinds of its own.
// Here a RackMachine "is switched on" by making its Node and "switched off" by
// ending its kubelet; as with most real infrastructure, the Node stays and is
// Cluster API's to delete. Between each cluster and its API server is a Wire
// that a test can cut.
//
// Tests share the rig, so each has a cluster of its own and may run in parallel.
// It is for tests only.
package hardware
