// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Options say what to check and how. Only Config and Kind are required; without
// the rest, the checks that need it are skipped, and the results say what to give.
type Options struct {
	// Config leads to the cluster, as an administrator: the kit makes namespaces,
	// reads CustomResourceDefinitions, asks for reviews of access, and makes
	// objects of the kind.
	Config *rest.Config
	// Kind is the kind of the provider, for example ManualSchedule.
	Kind string
	// APIVersion is the version to work with, with or without the group. Empty:
	// that of the samples, else the first one that is served.
	APIVersion string

	// On, Off and Invalid are manifests (YAML or JSON) with an object of the kind
	// that is active as long as the kit runs, one that is inactive, and one that
	// the provider cannot decide about. Name and namespace do not count. Further
	// objects of a manifest, a ConfigMap say, are made before it in the same
	// namespace.
	On, Off, Invalid []byte

	// ServiceAccount is the account that the provider runs as.
	ServiceAccount types.NamespacedName
	// MayRead lists what the account may read beside its kind, as "resource" for
	// the core group or "resource.group": what its decisions depend on. "*.group"
	// stands for all that a group has.
	MayRead []string

	// Restart restarts the provider and returns when the old process has ended.
	// See [RestartPods] and [RestartCommand].
	Restart func(context.Context) error

	// Namespace is a namespace to work in, which exists. Empty: temporary ones.
	Namespace string

	// ReactWithin is the time in which a provider that watches has followed an
	// edit. Zero means 2s.
	ReactWithin time.Duration
	// IdleFor is how long nothing may be written while nobody edits, at least: a slow
	// provider is watched for longer. Zero means 1m. Less than 30s show no slow poll:
	// where there was no quick one, the check of it is skipped.
	IdleFor time.Duration
	// Patience bounds the wait for what has to come, however slowly. Zero means 1m.
	Patience time.Duration
	// Objects is how many are made at once to see whether many are too many. Zero
	// means 200. With fewer than 20 that check is skipped.
	Objects int

	// Only limits the run to the checks with these ids; empty means all of them.
	// Checks that they rest on are run as well. Skip leaves checks out. What is
	// left out counts as skipped.
	Only, Skip []string

	// Strict makes a failed recommended check fail the whole, as a required one does.
	Strict bool
	// AllowIncomplete has the whole pass though required checks were skipped.
	AllowIncomplete bool

	// Clock tells the time by which the provider's reactions are judged. Nil means
	// the real one.
	Clock clock.Clock
	// Progress is told of each result as it comes, in the order of [Checks]. Nil
	// means nobody.
	Progress func(Result)
}

const (
	defaultReactWithin = 2 * time.Second
	defaultIdleFor     = time.Minute
	defaultPatience    = time.Minute
	defaultObjects     = 200
)

// OptionError says that the kit was called wrongly. No check was run.
type OptionError struct {
	// Option is the field of Options.
	Option string
	// Problem is what is wrong with it.
	Problem string
}

// Error names the option and the problem.
func (e *OptionError) Error() string { return fmt.Sprintf("%s: %s", e.Option, e.Problem) }

func (o *Options) setDefaults() {
	if o.ReactWithin == 0 {
		o.ReactWithin = defaultReactWithin
	}
	if o.IdleFor == 0 {
		o.IdleFor = defaultIdleFor
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Objects == 0 {
		o.Objects = defaultObjects
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Progress == nil {
		o.Progress = func(Result) {}
	}
}

// check returns an *OptionError for what cannot be worked with.
func (o *Options) check() error {
	switch {
	case o.Config == nil:
		return &OptionError{Option: "Config", Problem: "is missing: it leads to the cluster"}
	case o.Kind == "":
		return &OptionError{Option: "Kind", Problem: "is missing: name the kind of the provider, ManualSchedule for example"}
	case o.ReactWithin < 0 || o.IdleFor < 0 || o.Patience < 0:
		return &OptionError{Option: "ReactWithin, IdleFor and Patience", Problem: "must not be negative"}
	case o.Objects < 0:
		return &OptionError{Option: "Objects", Problem: "must not be negative"}
	}
	for option, ids := range map[string][]string{"Only": o.Only, "Skip": o.Skip} {
		for _, id := range ids {
			if find(id) == nil {
				return &OptionError{Option: option, Problem: fmt.Sprintf("there is no check %q; see --list (Checks)", id)}
			}
		}
	}
	return nil
}
