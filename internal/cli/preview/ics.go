// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"time"

	ics "github.com/arran4/golang-ical"
)

// printICS writes an iCalendar (RFC 5545) with one event for each time at which a
// schedule is active, cut to the span that was asked for. The same manifest and
// span give the same events, so that importing them again adds none.
func printICS(w io.Writer, timelines []timeline) error {
	calendar := ics.NewCalendarFor("5-Spot")
	calendar.SetProductId("-//5-Spot//fivespot preview//EN")
	calendar.SetMethod(ics.MethodPublish)
	for _, line := range timelines {
		for _, stretch := range line.stretches {
			if !stretch.Active {
				continue
			}
			end := stretch.End
			if end.IsZero() || end.After(line.until) {
				end = line.until
			}
			event := calendar.AddEvent(line.eventID(stretch.Start))
			event.SetDtStampTime(line.from)
			event.SetStartAt(stretch.Start)
			event.SetEndAt(end)
			event.SetSummary(line.title() + " active")
			event.SetDescription(line.Object.Kind + " " + line.title() + ": " + stretch.Message)
			event.SetTimeTransparency(ics.TransparencyTransparent)
		}
	}
	if err := calendar.SerializeTo(w, ics.WithNewLineWindows); err != nil {
		return fmt.Errorf("writing the calendar: %w", err)
	}
	return nil
}

// title is what a schedule is called where its kind is plain.
func (t *timeline) title() string {
	if t.Object.Namespace == "" {
		return t.Object.Name
	}
	return t.Object.Namespace + "/" + t.Object.Name
}

func (t *timeline) eventID(start time.Time) string {
	return fmt.Sprintf("%s.%s.%s.%s@spotschedules.5spot.finos.org",
		start.Format("20060102T150405Z"), t.Object.Name, t.Object.Namespace, t.Object.Kind)
}
