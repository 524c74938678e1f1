// SPDX-License-Identifier: Apache-2.0

// Package preview is the verb `fivespot preview`: it says when the schedules of
// a manifest are active, as a table, as JSON, as a calendar or as a picture.
//
// It imports internal/cli/offline and what a command line needs.
package preview

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/cli/lint"
	"github.com/fivespot/fivespot/internal/cli/manifest"
	"github.com/fivespot/fivespot/internal/cli/offline"
)

const long = `Says when the schedules of a manifest are active, without a cluster. It asks the
functions that the providers publish their verdicts with, so what it shows is
what will be.

T is an instant (2026-03-08T06:30:00Z) or a date (2026-03-08), which stands for
its beginning in the time zone of each schedule. --from is included, --until is
not.

With -o json each line is an object: first the state at --from, marked initial,
then each change in order. Times are in UTC.`

const example = `  fivespot preview -f schedule.yaml
  fivespot preview -f schedule.yaml --from 2026-03-01 --until 2026-04-01 -o svg >march.svg
  kubectl get tbss,cms -A -o yaml | fivespot preview -f - -o ics >schedules.ics`

const defaultLength = 14 * 24 * time.Hour

// options are what the flags say.
type options struct {
	file, name, from, until, output string
}

// printers are the forms of output by name.
var printers = map[string]func(io.Writer, []timeline) error{
	"table": printTable,
	"json":  printJSON,
	"ics":   printICS,
	"svg":   printSVG,
}

// NewCommand returns the command. The clock gives the default of --from.
func NewCommand(streams cli.Streams, c clock.PassiveClock) *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:     "preview -f FILE",
		Short:   "Show when the schedules of a manifest are active",
		Long:    long,
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return run(o, c.Now(), streams) },
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&o.file, "filename", "f", "", "manifest to read, - for standard input")
	flags.StringVar(&o.name, "name", "", "show only schedules of this name, or NAMESPACE/NAME")
	flags.StringVar(&o.from, "from", "", "show from this instant or date on (default now)")
	flags.StringVar(&o.until, "until", "", "show until this instant or date (default 14 days after --from)")
	flags.StringVarP(&o.output, "output", "o", "table", "table, json, ics or svg")
	if err := command.MarkFlagRequired("filename"); err != nil {
		panic(err) // The flag is defined a few lines above.
	}
	return command
}

func run(o options, now time.Time, streams cli.Streams) error {
	printer, ok := printers[o.output]
	if !ok {
		return fmt.Errorf("--output %q is none of table, json, ics and svg", o.output)
	}
	if err := o.checkTimes(); err != nil {
		return err
	}
	objects, err := manifest.ReadFile(o.file, streams.In)
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(object *manifest.Object) bool { return !o.wants(object) })
	if len(objects) == 0 {
		return fmt.Errorf("there is no schedule %sin %s", strings.TrimPrefix(o.name+" ", " "), o.file)
	}
	var timelines []timeline
	var refused []error
	for _, object := range objects {
		line, err := o.timelineOf(object, now, streams.Err)
		switch {
		case err != nil:
			refused = append(refused, err)
		case line != nil:
			timelines = append(timelines, *line)
		}
	}
	if len(timelines) > 0 {
		if err := printer(streams.Out, timelines); err != nil {
			return err
		}
	}
	return errors.Join(refused...)
}

// wants reports whether an object is one of those to show.
func (o *options) wants(object *manifest.Object) bool {
	return offline.IsSchedule(object) &&
		(o.name == "" || o.name == object.Name || o.name == object.Namespace+"/"+object.Name)
}

// timeline is what a schedule says from one instant until another.
type timeline struct {
	*offline.Schedule

	from, until time.Time
	stretches   []offline.Stretch
}

// timelineOf returns nil for a schedule whose verdict does not follow from its
// manifest, and notes that. Each thing wrong with an object is told before the
// error is returned.
func (o *options) timelineOf(object *manifest.Object, now time.Time, notes io.Writer) (*timeline, error) {
	findings, err := lint.Check(object, now)
	if err != nil {
		return nil, err
	}
	if findings.Errors() > 0 {
		for _, finding := range findings {
			fmt.Fprintln(notes, finding)
		}
		return nil, fmt.Errorf("%s is not shown: its manifest has errors", object)
	}
	if !offline.CanEvaluate(object) {
		fmt.Fprintf(notes, "%s:%d: %s is not shown: its verdict does not follow from its manifest\n", object.File, object.Line(""), object)
		return nil, nil //nolint:nilnil // nothing to show is no error
	}
	s, err := offline.Read(object)
	if err != nil {
		return nil, err
	}
	from, until, err := o.span(s.Zone, now)
	if err != nil {
		return nil, err
	}
	return &timeline{Schedule: s, from: from, until: until, stretches: s.Timeline(from, until)}, nil
}
