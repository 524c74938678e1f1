// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// systemZones are the directories that Go looks into, in its order (package
// time, zoneinfo_unix.go), relative to the root of the file system.
var systemZones = []string{
	"usr/share/zoneinfo",
	"usr/share/lib/zoneinfo",
	"usr/lib/locale/TZ",
	"etc/zoneinfo",
}

func zones(getenv func(string) string, root fs.FS) string {
	if source := getenv("ZONEINFO"); source != "" {
		return "of $ZONEINFO, " + source
	}
	for _, dir := range systemZones {
		// Any zone will do to tell a database from an empty directory.
		if _, err := fs.Stat(root, path.Join(dir, "Etc/UTC")); err == nil {
			return fmt.Sprintf("%s of /%s", systemEdition(root, dir), dir)
		}
	}
	return embedded() + " (embedded)"
}

// systemEdition reads what distributions leave of the edition of their database.
func systemEdition(root fs.FS, dir string) string {
	if content, err := fs.ReadFile(root, path.Join(dir, "+VERSION")); err == nil {
		return firstLine(content)
	}
	if content, err := fs.ReadFile(root, path.Join(dir, "tzdata.zi")); err == nil {
		if edition, found := strings.CutPrefix(firstLine(content), "# version "); found {
			return edition
		}
	}
	return "(unknown edition)"
}

func firstLine(content []byte) string {
	line, _, _ := strings.Cut(string(content), "\n")
	return strings.TrimSpace(line)
}
