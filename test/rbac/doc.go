// SPDX-License-Identifier: Apache-2.0

// Package rbac does, as each of our service accounts, what the account may do
// and what it may not do, on a real API server with the rights that deploy/
// grants. Whether a review says so is test/deploy's business; here the requests
// are made.
package rbac
