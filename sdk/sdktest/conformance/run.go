// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Run runs the checks against the cluster and returns what they came to. It
// removes what it made, also when ctx ends.
//
// The error is an [*OptionError] when the kit was called wrongly, and another one
// when the cluster could not be worked with or ctx ended; the report then holds
// the results until there. A [*LeftoverError], alone or joined with such a one,
// names what could not be removed. A provider that fails a check is no error.
func Run(ctx context.Context, o Options) (report Report, err error) {
	s, err := open(ctx, o)
	if err != nil {
		return Report{}, err
	}
	defer func() {
		err = errors.Join(err, s.close(ctx))
		report = s.report
	}()
	for _, check := range Checks() {
		if _, err := s.judge(ctx, &check); err != nil {
			return report, err
		}
	}
	return report, nil
}

// LeftoverError says that something which the run made is still in the cluster,
// since it could not be removed.
type LeftoverError struct {
	// Err says what, and why.
	Err error
}

// Error names what stays.
func (e *LeftoverError) Error() string {
	return "what was made for the checks is not all deleted: " + e.Err.Error()
}

// Unwrap returns Err.
func (e *LeftoverError) Unwrap() error { return e.Err }

// session is one run of the kit.
type session struct {
	options Options
	env     *env
	report  Report
	// left holds the checks that Only and Skip leave out.
	left  map[string]bool
	began time.Time
}

// open prepares a run. Whoever opens a session closes it.
func open(ctx context.Context, o Options) (*session, error) {
	o.setDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	e, err := newEnv(&o)
	if err != nil {
		return nil, err
	}
	kubernetes, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{
		options: o,
		env:     e,
		left:    leftOut(o.Only, o.Skip),
		began:   o.Clock.Now(),
		report: Report{
			Format:     Format,
			Kind:       o.Kind,
			Kubernetes: kubernetes,
			Started:    o.Clock.Now().UTC().Truncate(time.Second),
			Strict:     o.Strict, AllowIncomplete: o.AllowIncomplete,
		},
	}
	e.describe(&s.report)
	return s, nil
}

// close removes what the run made and completes the report.
func (s *session) close(ctx context.Context) error {
	err := s.env.cleanUp(ctx)
	s.report.Seconds = seconds(s.options.Clock.Since(s.began))
	s.report.conclude()
	return err
}

// judge runs one check, or says why not, and puts the result into the report. An
// error ends the run: the cluster is out of reach, or ctx ended.
func (s *session) judge(ctx context.Context, check *Check) (Result, error) {
	begin := s.options.Clock.Now()
	found, err := s.look(ctx, check)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", check.ID, err)
	}
	result := Result{
		ID: check.ID, Group: check.Group, Rule: check.Rule, Link: check.Link(), Level: check.Level, Title: check.Title,
		Outcome: found.outcome, Message: s.env.publishable(found.message),
		Seconds: seconds(s.options.Clock.Since(begin)),
	}
	if found.outcome == Failed {
		result.Advice = check.Advice
	}
	s.report.Results = append(s.report.Results, result)
	s.options.Progress(result)
	return result, nil
}

func (s *session) look(ctx context.Context, check *Check) (finding, error) {
	if s.left[check.ID] {
		return skip(leftOutText)
	}
	rests := withNeeds(check.needs)
	for _, before := range s.report.Results {
		if rests[before.ID] && before.Outcome == Failed {
			return skip("it says nothing while %s fails", before.ID)
		}
	}
	switch {
	case rests[idGroup] && s.env.definition() == nil:
		return skip("there is no CRD of the kind")
	case rests[idEstablished] && len(servedVersions(s.env.definition())) == 0:
		return skip(noneServed)
	}
	for _, thing := range check.uses {
		if !s.options.has(thing) {
			return skip("%s", string(thing))
		}
	}
	found, err := check.run(ctx, s.env)
	return weigh(ctx, found, err)
}

// weigh decides what trouble of the kit itself means for a check. What the API
// server answered belongs to the check; what kept it from answering ends the run.
func weigh(ctx context.Context, found finding, err error) (finding, error) {
	var missing *missingError
	var option *OptionError
	var refused *refusedMachineError
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return finding{}, context.Cause(ctx)
	case errors.As(err, &option):
		return finding{}, err
	case errors.As(err, &missing):
		return fail("%s", err.Error())
	case errors.As(err, &refused):
		return skip("a policy here refuses the kit's ScheduledMachine, which is no provider's fault; work in a namespace "+
			"that admits it, by --namespace (Options.Namespace), or in another cluster: %s", err.Error())
	case apierrors.IsForbidden(err):
		return skip("whoever runs this kit may not do what it takes: %s", err.Error())
	case apierrors.IsTooManyRequests(err), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsServiceUnavailable(err):
		return finding{}, err // that says nothing of the provider
	case apierrors.ReasonForError(err) != "":
		return fail("the check came to no end: %s", err.Error())
	}
	return finding{}, err
}

const leftOutText = "left out by --only or --skip (Options.Only, Options.Skip)"

// leftOut returns the checks that are not to be run: those that Skip names, and
// where Only names some, all that neither are among them nor needed by them.
func leftOut(only, skip []string) map[string]bool {
	left := map[string]bool{}
	if len(only) > 0 {
		wanted := withNeeds(only)
		for _, check := range Checks() {
			left[check.ID] = !wanted[check.ID]
		}
	}
	for _, id := range skip {
		left[id] = true
	}
	return left
}

func withNeeds(ids []string) map[string]bool {
	wanted := map[string]bool{}
	queue := slices.Clone(ids)
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if check := find(id); check != nil && !wanted[id] {
			wanted[id] = true
			queue = append(queue, check.needs...)
		}
	}
	return wanted
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
