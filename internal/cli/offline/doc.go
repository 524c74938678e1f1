// SPDX-License-Identifier: Apache-2.0

// Package offline answers for the schedule objects of a manifest without a
// cluster: what is wrong with one, and when is it active. It asks the functions
// that the providers publish verdicts with, and checks objects against the CRDs
// as an API server does.
//
// It imports the providers, the api and the CRDs of deploy.
package offline
