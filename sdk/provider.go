// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fivespot/fivespot/api/contract"
)

// Provider publishes the verdicts of one schedule kind. Make it with [New], run
// it with [Main] or [Run], or add it to a manager of your own with
// [Provider.Register].
type Provider struct {
	kind     schema.GroupVersionKind
	evaluate evaluator
	options  options
	// scheduleType is the struct of the kind.
	scheduleType reflect.Type
	// mistake is what is wrong with the arguments of New.
	mistake error
}

// New returns a provider of the given kind, in the version that evaluate reads.
// The kind must be of the API group spotschedules.5spot.finos.org; the type
// need not be registered with a scheme.
//
// The function evaluate says what a schedule is at the instant now. It is
// called when an object appears or is edited, at the Until of its last decision
// and after a failure, with a copy of the object that it may change: fields of
// the status beside those of the contract (and conditions beside Ready) are
// published as it leaves them, everything else is ignored. The error's type
// picks the outcome, see [InvalidSpec] and [NotReady]. It has to give the same
// answer for the same spec and instant (and what [Objects.Get] and [Ask] tell it),
// to take its time from now (in UTC) and not from a clock of its own, to be quick,
// and to heed ctx, which also carries a logger
// (sigs.k8s.io/controller-runtime/pkg/log). It runs for several objects at the
// same time. A panic is caught: the object reads as not ready.
//
// A mistake in the arguments is reported when the provider is registered or run.
func New[T any, P Schedule[T]](
	kind schema.GroupVersionKind,
	evaluate func(ctx context.Context, schedule P, now time.Time) (Decision, error),
	opts ...Option,
) *Provider {
	provider := &Provider{kind: kind, options: defaultOptions(), scheduleType: reflect.TypeFor[T]()}
	for _, option := range opts {
		option(&provider.options)
	}
	if evaluate == nil {
		provider.mistake = errors.New("the function that evaluates a schedule is nil")
		return provider
	}
	provider.evaluate = newEvaluator[T, P](evaluate)
	provider.mistake = errors.Join(checkKind(kind), checkType[T, P](), checkReads(provider.options.reads))
	return provider
}

func checkKind(kind schema.GroupVersionKind) error {
	switch {
	case kind.Group != contract.Group:
		return fmt.Errorf("the kind is of the API group %q; a schedule kind is of %q", kind.Group, contract.Group)
	case kind.Kind == "" || kind.Version == "":
		return fmt.Errorf("the kind needs a name and a version, and is %q in version %q", kind.Kind, kind.Version)
	}
	return nil
}

func checkReads(reads []declaration) error {
	var mistakes []error
	for _, read := range reads {
		mistakes = append(mistakes, read.check())
	}
	return errors.Join(mistakes...)
}

// Kind returns the kind whose verdicts the provider publishes.
func (p *Provider) Kind() schema.GroupVersionKind { return p.kind }

// Register adds the provider to a manager, with a readiness check of its own.
// It runs while the manager leads. Of the manager it uses the client, the REST
// mapper and the configuration; it has its own cache, which holds its kind and
// nothing else. It has to be called before the manager starts.
func (p *Provider) Register(mgr manager.Manager) error {
	w, err := p.addTo(mgr)
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck(strings.ToLower(p.kind.Kind), w.ready); err != nil {
		return fmt.Errorf("provider of %s: adding its readiness check: %w", p.kind.Kind, err)
	}
	return nil
}

func (p *Provider) addTo(mgr manager.Manager) (*worker, error) {
	if p.mistake != nil {
		return nil, fmt.Errorf("provider of %s: %w", p.kind.Kind, p.mistake)
	}
	measures, err := newMeasures(metrics.Registry, p.kind.Kind, p.options.metricsName)
	if err != nil {
		return nil, fmt.Errorf("provider of %s: registering its metrics: %w", p.kind.Kind, err)
	}
	w := newWorker(p, mgr, measures)
	if err := mgr.Add(w); err != nil {
		return nil, fmt.Errorf("provider of %s: adding it to the manager: %w", p.kind.Kind, err)
	}
	return w, nil
}
