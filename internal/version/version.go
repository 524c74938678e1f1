// SPDX-License-Identifier: Apache-2.0

// Package version says which version of 5-Spot a program is, and by which
// edition of the IANA time zone database it reckons.
//
// It imports the standard library only.
package version

import (
	"fmt"
	"os"
	"runtime"
	_ "time/tzdata" // a program that says its edition has it on board
)

// Set by the build, with -ldflags "-X …/internal/version.version=…".
var (
	version      = "unknown"
	embeddedZone = "" // edition of time/tzdata, for example "2025c"
)

// Version returns the version of the program: a tag, or what git describe
// makes of a commit; "unknown" if the build did not set it.
func Version() string { return version }

// String returns the version, the Go release and the edition of the zone
// database, in one line.
func String() string {
	return fmt.Sprintf("%s, %s, time zones %s", version, runtime.Version(), Zones())
}

// Zones returns the edition of the zone database that the program uses and
// where it comes from. Go looks into $ZONEINFO first, then at the system's, and
// takes the embedded one where there is neither.
func Zones() string {
	return zones(os.Getenv, os.DirFS("/"))
}

func embedded() string {
	if embeddedZone != "" {
		return embeddedZone
	}
	return "of " + runtime.Version() // every Go release has one edition
}
