// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// evaluation is one call of Evaluate: it answers from what is known, and keeps
// the books on what was looked at. Its methods may be called from any goroutine
// of Evaluate.
type evaluation struct {
	inputs   *inputs
	schedule types.NamespacedName
	now      time.Time

	mu    sync.Mutex
	reads []objectRef
	asked []pollID
	// looked sums up the state of everything that was looked at so far.
	looked []string
	// incomplete is set when something was looked at of which nothing is known
	// yet. What Evaluate makes of that is void.
	incomplete bool
	// secrets are the values of the Secrets that were read.
	secrets []string
}

// newEvaluation opens the books on one call of Evaluate for an object.
func newEvaluation(in *inputs, object *unstructured.Unstructured, now time.Time) *evaluation {
	return &evaluation{
		inputs:   in,
		schedule: nameOf(object),
		now:      now,
		looked:   []string{string(object.GetUID()), strconv.FormatInt(object.GetGeneration(), 10)},
	}
}

type evaluationKey struct{}

func (e *evaluation) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, evaluationKey{}, e)
}

func evaluationOf(ctx context.Context) *evaluation {
	e, _ := ctx.Value(evaluationKey{}).(*evaluation)
	return e
}

// end closes the books: what was not looked at this time is let go. It reports
// whether all that was looked at is known. Where it is not, nothing is let go: what
// Evaluate did not come to may be a good answer, which it looks at the next time.
func (e *evaluation) end() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.incomplete {
		return false
	}
	e.inputs.objects.keep(e.schedule, e.reads)
	e.inputs.polls.keep(e.schedule, e.asked)
	return true
}

// errIncomplete is what Evaluate is told where nothing is known yet. Nobody sees
// it but Evaluate, unless it is a test's.
var errIncomplete = errors.New("not known yet; Evaluate is called again as soon as it is")

// read returns an object as it was last seen.
func (e *evaluation) read(d declaration, name string) (*unstructured.Unstructured, error) {
	if !slices.ContainsFunc(e.inputs.declared, func(declared declaration) bool { return declared.covers(d.resource, name) }) {
		return nil, fmt.Errorf("the provider reads the %s %q without having declared it by WithReads; "+
			"this is a mistake in the provider", d.kind, name)
	}
	ref := objectRef{resource: d.resource, namespace: e.schedule.Namespace, name: name}
	state := e.inputs.objects.read(e.schedule, ref)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads = append(e.reads, ref)
	e.looked = append(e.looked, state.revision())
	switch {
	case !state.known:
		e.incomplete = true
		return nil, errIncomplete
	case state.err != nil:
		return nil, unreadable(d, name, state.err)
	case state.object == nil:
		return nil, notFound(d, name)
	}
	if d.resource == Secrets.resource {
		e.secrets = withSecretValues(e.secrets, state.object)
	}
	return state.object, nil
}

// lookedAt sums up what was looked at so far, and returns the values of the
// Secrets among it.
func (e *evaluation) lookedAt() (looked string, secrets []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.looked, "\n"), slices.Clone(e.secrets)
}

// redact takes out of an outcome the values of the Secrets that Evaluate read.
func (e *evaluation) redact(result outcome) outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	result.reason = redacted(result.reason, e.secrets)
	result.message = redacted(result.message, e.secrets)
	redactIn(result.own.fields, e.secrets)
	for _, condition := range result.own.conditions {
		redactIn(condition, e.secrets)
	}
	if panicked := (*panicError)(nil); errors.As(result.cause, &panicked) {
		panicked.value = redacted(fmt.Sprint(panicked.value), e.secrets)
	}
	return result
}
