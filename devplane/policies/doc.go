// SPDX-License-Identifier: Apache-2.0

// Package policies checks that the expressions of the policies in deploy/admission
// fit the schemas in deploy/crds, as the controller manager of a cluster does,
// which writes what does not fit into the status of a policy. The check is in this
// module because no other links the API server's admission.
package policies
