// SPDX-License-Identifier: Apache-2.0

// Package guide does what "Create your own spot-schedule provider" tells its
// reader to do, to the letter: the guide's manifests and commands, typed into
// kubectl, and a provider that is a shell loop under the guide's own service
// account. Only the API server, Cluster API and our controller run beside it.
//
// Tests in it share one such whole and run one after the other: several of them
// take the kind away from all.
package guide
