// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/fivespot/fivespot/internal/cli/offline"
)

func printTable(w io.Writer, timelines []timeline) error {
	for i, line := range timelines {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s in %s\n", line.Object, line.Zone.Name())
		table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		fmt.Fprintln(table, "STATE\tLOCAL\tUTC\tLASTS\tREASON\tMESSAGE")
		for _, stretch := range line.stretches {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", state(stretch), line.Zone.Format(stretch.Start),
				stretch.Start.Format(time.RFC3339), lasts(stretch), stretch.Reason, oneLine(message(stretch)))
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

func state(s offline.Stretch) string {
	switch {
	case s.Unknown != nil:
		return "unknown"
	case s.Active:
		return "active"
	default:
		return "inactive"
	}
}

func message(s offline.Stretch) string {
	if s.Unknown != nil {
		return s.Unknown.Error()
	}
	return s.Message
}

// oneLine keeps a message that an author wrote in its cell of the table.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// lasts returns how long a stretch is.
func lasts(s offline.Stretch) string {
	switch {
	case s.Unknown != nil:
		return "-"
	case s.End.IsZero():
		return "forever"
	default:
		return spellLength(s.End.Sub(s.Start))
	}
}

// spellLength returns an elapsed time as 2d15h30m.
func spellLength(d time.Duration) string {
	seconds := int64(d.Round(time.Second) / time.Second)
	var text strings.Builder
	for _, unit := range []struct {
		name    string
		seconds int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}} {
		if count := seconds / unit.seconds; count > 0 {
			fmt.Fprintf(&text, "%d%s", count, unit.name)
		}
		seconds %= unit.seconds
	}
	if text.Len() == 0 {
		return "0s"
	}
	return text.String()
}
