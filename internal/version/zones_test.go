// SPDX-License-Identifier: Apache-2.0

package version

import (
	"testing"
	"testing/fstest"
)

func TestZonesNamesTheDatabaseThatGoUses(t *testing.T) {
	zone := &fstest.MapFile{}
	for _, test := range []struct {
		name     string
		zoneinfo string
		files    fstest.MapFS
		want     string
	}{
		{
			name: "no database on the system",
			want: "2025c (embedded)",
		},
		{
			name:  "an empty directory is no database",
			files: fstest.MapFS{"usr/share/zoneinfo/README": zone},
			want:  "2025c (embedded)",
		},
		{
			name: "the system's, as Debian and Red Hat leave it",
			files: fstest.MapFS{
				"usr/share/zoneinfo/Etc/UTC":   zone,
				"usr/share/zoneinfo/tzdata.zi": {Data: []byte("# version 2026a\n# more\n")},
			},
			want: "2026a of /usr/share/zoneinfo",
		},
		{
			name: "the system's, as macOS leaves it",
			files: fstest.MapFS{
				"usr/share/zoneinfo/Etc/UTC":  zone,
				"usr/share/zoneinfo/+VERSION": {Data: []byte("2025b\n")},
			},
			want: "2025b of /usr/share/zoneinfo",
		},
		{
			name:  "the system's, without an edition",
			files: fstest.MapFS{"usr/share/lib/zoneinfo/Etc/UTC": zone},
			want:  "(unknown edition) of /usr/share/lib/zoneinfo",
		},
		{
			name:     "the user's own",
			zoneinfo: "/opt/zones.zip",
			files:    fstest.MapFS{"usr/share/zoneinfo/Etc/UTC": zone},
			want:     "of $ZONEINFO, /opt/zones.zip",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func(before string) { embeddedZone = before }(embeddedZone)
			embeddedZone = "2025c"
			getenv := func(name string) string { return map[string]string{"ZONEINFO": test.zoneinfo}[name] }
			if got := zones(getenv, test.files); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
