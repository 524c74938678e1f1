// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/providers"
	"github.com/fivespot/fivespot/sdk"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

// shipped says how to check each kind: the files of its samples and its account.
var shipped = map[string]struct{ samples, account string }{
	"CapitalMarketsSchedule": {"capitalmarkets", "capital-markets-schedule-provider"},
	"ManualSchedule":         {"manual", "manual-schedule-provider"},
	"TimeBasedSpotSchedule":  {"timebased", "time-based-schedule-provider"},
}

func TestEveryShippedKindConforms(t *testing.T) {
	t.Parallel()
	for _, provider := range providers.All() {
		kind := provider.Kind().Kind
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			how, known := shipped[kind]
			if !known {
				t.Fatalf("there are no samples of %s here", kind)
			}
			runFiveSpot(t)
			running := startShipped(t, kind, how.account)
			o := options(t, kind)
			o.On, o.Off, o.Invalid = sample(t, how.samples+"-on"), sample(t, how.samples+"-off"), sample(t, how.samples+"-invalid")
			o.ServiceAccount = types.NamespacedName{Namespace: "5spot-system", Name: how.account}
			o.Restart, o.Objects, o.Strict = running.restart, 200, true
			o.IdleFor = 30 * time.Second // a shorter time shows no poll
			passesAll(t, conformance.Test(t, o))
		})
	}
}

// passesAll checks that nothing failed and nothing was skipped.
func passesAll(t *testing.T, report conformance.Report) {
	t.Helper()
	if report.Outcome != conformance.Passed || len(report.Results) != len(conformance.Checks()) {
		t.Errorf("the outcome is %s, with %d results", report.Outcome, len(report.Results))
	}
	for _, result := range report.Results {
		if result.Outcome != conformance.Passed {
			t.Errorf("%s is %s: %s", result.ID, result.Outcome, result.Message)
		}
	}
}

// program is a provider that can be restarted.
type program struct {
	run   func(context.Context) error
	stop  context.CancelFunc
	ended chan error
}

// start runs a provider until the end of the test.
func start(t *testing.T, run func(context.Context) error) *program {
	t.Helper()
	p := &program{run: run}
	p.start()
	t.Cleanup(func() {
		p.stop()
		if err := <-p.ended; err != nil {
			t.Errorf("the provider ended with: %v", err)
		}
	})
	return p
}

func (p *program) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.stop, p.ended = cancel, make(chan error, 1)
	go func() { p.ended <- p.run(ctx) }()
}

func (p *program) restart(context.Context) error {
	p.stop()
	if err := <-p.ended; err != nil {
		return err
	}
	p.start()
	return nil
}

// silent is a logger that is set and says nothing.
var silent = funcr.New(func(string, string) {}, funcr.Options{})

// startShipped runs a shipped provider as its account.
func startShipped(t *testing.T, kind, account string) *program {
	t.Helper()
	settings := sdk.Settings{
		RESTConfig:         accountConfig(t, "5spot-system", account),
		MetricsBindAddress: "0", HealthProbeBindAddress: "0", Logger: silent,
	}
	return start(t, func(ctx context.Context) error {
		all := providers.All()
		i := slices.IndexFunc(all, func(p *sdk.Provider) bool { return p.Kind().Kind == kind })
		return sdk.Run(ctx, settings, all[i])
	})
}
