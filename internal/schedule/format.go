// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"time"
)

// Format spells an instant as people in the zone say it, with the weekday and
// the abbreviation in use there and then: Mon 2026-06-15 09:00 CEST. Seconds are
// left out when they are zero; a zone without an abbreviation has its offset:
// UTC+05:45.
func (z *Zone) Format(t time.Time) string {
	local := t.In(z.location)
	layout := "Mon 2006-01-02 15:04"
	if local.Second() != 0 {
		layout += ":05"
	}
	return local.Format(layout) + " " + abbreviation(local)
}

func abbreviation(local time.Time) string {
	name, _ := local.Zone()
	if strings.Trim(name, "+-0123456789") == "" {
		return local.Format("UTC-07:00")
	}
	return name
}
