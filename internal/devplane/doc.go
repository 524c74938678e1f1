// SPDX-License-Identifier: Apache-2.0

// Package devplane starts bin/devplane, a real Kubernetes control plane in one
// process, and gives access to it: as its admin, as a service account, as
// anybody by impersonation, and to its audit log.
//
// It imports client libraries and internal/process; k8s.io/kubernetes itself is
// linked only into the program. Tests of other packages start one through
// devplanetest.
package devplane
