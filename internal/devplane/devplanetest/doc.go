// SPDX-License-Identifier: Apache-2.0

// Package devplanetest gives the tests of a package one real control plane:
//
//	func TestMain(m *testing.M) { devplanetest.Main(m, devplanetest.CRDs) }
//
//	func TestSomething(t *testing.T) {
//		namespace := devplanetest.Namespace(t)
//		c := devplanetest.Client(t)
//		...
//	}
//
// Tests share it, so each works in a namespace of its own. Waits are watches
// and end with the test's failure after Patience.
//
// It is for tests only.
package devplanetest
