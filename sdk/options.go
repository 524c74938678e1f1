// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"time"

	"k8s.io/utils/clock"
)

// Option changes how a provider works. Without any, a provider does the right
// thing.
type Option func(*options)

type options struct {
	clock          clock.Clock
	concurrency    int
	backoffBase    time.Duration
	backoffMax     time.Duration
	metricsName    string
	resource       string
	reads          []declaration
	kindCheckEvery time.Duration
}

// defaultBackoff is the pause after a first failure.
const defaultBackoff = time.Second

func defaultOptions() options {
	return options{
		clock:       clock.RealClock{},
		concurrency: 10,
		backoffBase: defaultBackoff,
		backoffMax:  time.Minute,
		// Only discovery tells an account without rights on CRDs that a kind has
		// come, and discovery cannot be watched.
		kindCheckEvery: 5 * time.Second,
	}
}

// WithClock sets the clock by which schedules are evaluated and woken; the
// default is the real one. It is meant for tests.
func WithClock(clock clock.Clock) Option {
	return func(o *options) { o.clock = clock }
}

// WithConcurrency sets how many objects are evaluated at the same time; the
// default is 10. One object is never evaluated twice at the same time. Values
// below one are taken as one.
func WithConcurrency(objects int) Option {
	return func(o *options) { o.concurrency = max(objects, 1) }
}

// WithBackoff sets the pause before Evaluate is called again after it failed
// for an object, and the bound up to which that pause doubles with each further
// failure; the default is from one second up to one minute. There is always a
// pause: a first one of zero is taken as a second. An edit of the object is looked
// at without any.
func WithBackoff(first, longest time.Duration) Option {
	if first <= 0 {
		first = defaultBackoff
	}
	return func(o *options) { o.backoffBase, o.backoffMax = first, max(first, longest) }
}

// WithReads declares which objects, beside the schedule itself, Evaluate may read
// by [Objects.Get]. They need rights, see [Provider.Rules]; what is not declared
// cannot be read. Given several times, the declarations add up.
//
//	sdk.WithReads(sdk.ConfigMaps, sdk.Secrets.Named("tide-feed"))
func WithReads(objects ...Readable) Option {
	return func(o *options) {
		for _, object := range objects {
			o.reads = append(o.reads, object.declaration())
		}
	}
}

// WithResource names the resource of the kind (spec.names.plural of its CRD),
// for [Provider.Rules], where it is not the regular plural that generators of
// CRDs make of the kind: "tideschedules" of TideSchedule.
func WithResource(plural string) Option {
	return func(o *options) { o.resource = plural }
}

// WithMetricsName publishes the metrics fivespot_<name>_active and
// fivespot_<name>_transitions_total, with the labels namespace and name, beside
// those that every kind has (see Metrics in the package documentation). The
// name is in snake_case, for example "time_based".
func WithMetricsName(name string) Option {
	return func(o *options) { o.metricsName = name }
}
