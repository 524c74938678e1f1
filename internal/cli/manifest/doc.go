// SPDX-License-Identifier: Apache-2.0

// Package manifest reads the objects of a manifest and remembers where each of
// their fields stands, so that a message can name file and line.
//
// It imports YAML and JSON libraries only.
package manifest
