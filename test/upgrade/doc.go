// SPDX-License-Identifier: Apache-2.0

// Package upgrade tests that machines outlive an upgrade of Cluster API from
// v1beta1 to v1beta2 under a running controller: with the last Cluster API that
// speaks v1beta1 only, then with today's, and its conversion webhook between them.
package upgrade
