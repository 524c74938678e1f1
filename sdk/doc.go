// SPDX-License-Identifier: Apache-2.0

// Package sdk x
package sdk
