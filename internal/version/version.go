// SPDX-License-Identifier: Apache-2.0

// Package version says which version of 5-Spot a program is.
//
// It imports the standard library only.
package version

import (
	"runtime"
	"strings"
)

// version is set by the build: -ldflags "-X …/internal/version.version=v1.2.3".
var version = "unknown"

// Version returns the version of the program: a tag, or what git describe
// makes of a commit; "unknown" if the build did not set it.
func Version() string { return version }

// String returns the version, the Go release and further details in one line,
// for --version.
func String(details ...string) string {
	return strings.Join(append([]string{version, runtime.Version()}, details...), ", ")
}

// Zones is the detail of a program that reckons with time zones: the version of
// its IANA time zone database.
func Zones(database string) string { return "time zones " + database }
