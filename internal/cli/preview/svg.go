// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"github.com/fivespot/fivespot/internal/cli/offline"
)

// Measures of the picture, in pixels.
const (
	margin     = 24
	labelWidth = 116
	hourWidth  = 26
	sumWidth   = 150
	rowHeight  = 18
	barHeight  = 12
	weekGap    = 10
	headHeight = 62
	gridWidth  = 24 * hourWidth
	width      = margin + labelWidth + gridWidth + sumWidth + margin
	left       = margin + labelWidth
)

const style = `<style>
  .ground { fill: #ffffff } .row { fill: #f3f4f6 } .weekend { fill: #e9ebef }
  .grid { stroke: #d5d9df; stroke-width: 1 } .noon { stroke: #b4bac4; stroke-width: 1 }
  .active { fill: #1a7f4b; fill-opacity: .78 } .unknown { fill: url(#hatch) }
  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2430 }
  .title { font-size: 16px; font-weight: 600 } .dim { fill: #6b7280 } .number { font-variant-numeric: tabular-nums }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #14171c } .row { fill: #1d2128 } .weekend { fill: #262b34 }
    .grid { stroke: #323843 } .noon { stroke: #4a5160 } .active { fill: #3fbf7f } text { fill: #e6e8ec } .dim { fill: #9aa2b1 }
  }
</style>
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="6" fill="#c2410c" fill-opacity=".6"/></pattern></defs>
`

// printSVG draws a row for each local date, in which the schedule's active times
// are bars at the hours that the wall clock shows. An hour that is repeated is
// drawn over itself, and so darker.
func printSVG(w io.Writer, timelines []timeline) error {
	height := margin
	for i := range timelines {
		height += timelines[i].height()
	}
	buffer := bufio.NewWriter(w)
	p := picture{buffer}
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", width, height, width, height)
	p.printf("<title>%s</title>\n", html.EscapeString(headline(timelines)))
	p.printf("%s", style)
	p.printf(`<rect class="ground" width="%d" height="%d"/>`+"\n", width, height)
	top := margin
	for i := range timelines {
		p.panel(&timelines[i], top)
		top += timelines[i].height()
	}
	p.printf("</svg>\n")
	if err := buffer.Flush(); err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

func headline(timelines []timeline) string {
	titles := make([]string, len(timelines))
	for i := range timelines {
		titles[i] = timelines[i].title()
	}
	return "When schedules are active: " + strings.Join(titles, ", ")
}

// picture writes SVG. Errors show when the buffer is flushed.
type picture struct{ w *bufio.Writer }

func (p picture) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

func (t *timeline) height() int {
	height := headHeight + margin
	for i, d := range t.days() {
		height += rowHeight
		if i > 0 && d.date.Weekday() == time.Monday {
			height += weekGap
		}
	}
	return height
}

// panel draws one schedule.
func (p picture) panel(t *timeline, top int) {
	days := t.days()
	p.printf(`<text class="title" x="%d" y="%d">%s</text>`+"\n", margin, top+16, html.EscapeString(t.title()))
	p.printf(`<text class="dim" x="%d" y="%d">%s, %s, %s to %s</text>`+"\n", margin, top+36, html.EscapeString(t.Object.Kind),
		html.EscapeString(t.Zone.Name()), t.Zone.Format(t.from), t.Zone.Format(t.until))
	for hour := 0; hour <= 24; hour += 3 {
		p.printf(`<text class="dim number" x="%d" y="%d" text-anchor="middle">%02d</text>`+"\n", left+hour*hourWidth, top+headHeight-6, hour)
	}
	y := top + headHeight
	for i, d := range days {
		if i > 0 && d.date.Weekday() == time.Monday {
			y += weekGap
		}
		p.row(t, d, y)
		y += rowHeight
	}
}

// row draws one date.
func (p picture) row(t *timeline, d day, y int) {
	class := "row"
	if weekday := d.date.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		class = "weekend"
	}
	middle := y + rowHeight - 6
	p.printf(`<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`+"\n", class, left, y, gridWidth, rowHeight-2)
	p.printf(`<text class="number" x="%d" y="%d">%s %s</text>`+"\n", margin, middle, d.date.Weekday().String()[:3], d.date)
	for hour := 0; hour <= 24; hour += 6 {
		grid := "grid"
		if hour == 12 {
			grid = "noon"
		}
		x := left + hour*hourWidth
		p.printf(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", grid, x, y, x, y+rowHeight-2)
	}
	for _, b := range d.bars {
		p.bar(t, b, y+(rowHeight-2-barHeight)/2)
	}
	if note := d.note(); note != "" {
		p.printf(`<text class="dim number" x="%d" y="%d">%s</text>`+"\n", left+gridWidth+10, middle, note)
	}
}

// note says how long the schedule is active on a date, and what the clock does.
func (d day) note() string {
	var notes []string
	if d.active > 0 {
		notes = append(notes, spellLength(d.active))
	}
	switch {
	case d.shift > 0:
		notes = append(notes, "clock +"+spellLength(d.shift))
	case d.shift < 0:
		notes = append(notes, "clock −"+spellLength(-d.shift))
	}
	return strings.Join(notes, ", ")
}

func (p picture) bar(t *timeline, b bar, y int) {
	const perSecond = float64(hourWidth) / 3600
	class := "active"
	if b.stretch.Unknown != nil {
		class = "unknown"
	}
	p.printf(`<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"><title>%s</title></rect>`+"\n",
		class, float64(left)+float64(b.from)*perSecond, y, max(float64(b.to-b.from)*perSecond, 1), barHeight, html.EscapeString(t.tip(b.stretch)))
}

// tip is what shows when the mouse is over a bar.
func (t *timeline) tip(s *offline.Stretch) string {
	text := t.Zone.Format(s.Start)
	if !s.End.IsZero() {
		text += " to " + t.Zone.Format(s.End) + ", " + spellLength(s.End.Sub(s.Start))
	}
	return text + "\n" + message(*s)
}
