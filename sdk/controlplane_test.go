// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/sdk"
)

//go:embed testdata/guide-rbac.yaml
var guideRBAC []byte

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // each program has a log of its own
	devplanetest.Main(m, devplanetest.CRDs, devplanetest.Manifest(guideRBAC))
}

const (
	accountNamespace = "5spot-system"
	accountName      = "manual-schedule-provider"
	accountUser      = "system:serviceaccount:" + accountNamespace + ":" + accountName
)

var manualKind = v1alpha1.GroupVersion.WithKind("ManualSchedule")

// account returns a client configuration of the guide's service account.
func account(t *testing.T) *rest.Config {
	t.Helper()
	config, err := devplanetest.Plane(t).ServiceAccountConfig(devplanetest.Context(t), accountNamespace, accountName)
	if err != nil {
		t.Fatal(err)
	}
	// Requests are told apart by test.
	config.UserAgent = strings.ReplaceAll(t.Name(), "/", ".")
	return config
}

// running is a provider program that runs in the test's process.
type running struct {
	t      *testing.T
	cancel context.CancelFunc
	ended  chan error
	once   sync.Once
	log    *log
}

// start runs providers until stop, or the end of the test.
func start(t *testing.T, settings sdk.Settings, providers ...*sdk.Provider) *running {
	t.Helper()
	r := &running{t: t, ended: make(chan error, 1), log: &log{changed: make(chan struct{})}}
	if settings.RESTConfig == nil {
		settings.RESTConfig = account(t)
	}
	settings.MetricsBindAddress, settings.HealthProbeBindAddress = "0", "0"
	settings.Logger = r.log.logger()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r.cancel = cancel
	go func() { r.ended <- sdk.Run(ctx, settings, providers...) }()
	t.Cleanup(r.stop)
	return r
}

// stop tells the program to stop and waits until it has.
func (r *running) stop() {
	r.once.Do(func() {
		r.cancel()
		patience, cancel := context.WithTimeout(context.WithoutCancel(r.t.Context()), devplanetest.Patience)
		defer cancel()
		select {
		case err := <-r.ended:
			if err != nil {
				r.t.Errorf("the program ended with: %v", err)
			}
		case <-patience.Done():
			r.t.Error("the program does not stop")
		}
	})
}

// log keeps what a program logs.
type log struct {
	mu      sync.Mutex
	lines   []string
	changed chan struct{}
}

func (l *log) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, prefix+" "+args)
		close(l.changed)
		l.changed = make(chan struct{})
	}, funcr.Options{})
}

func (l *log) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// await returns when a line with the text is there.
func (l *log) await(t *testing.T, text string) {
	t.Helper()
	ctx := devplanetest.Context(t)
	for {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		if l.count(text) > 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			l.mu.Lock()
			defer l.mu.Unlock()
			t.Fatalf("no log line with %q in:\n%s", text, strings.Join(l.lines, "\n"))
		}
	}
}

// create makes a ManualSchedule.
func create(t *testing.T, namespace, name string, spec v1alpha1.ManualScheduleSpec) *v1alpha1.ManualSchedule {
	t.Helper()
	s := &v1alpha1.ManualSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       spec,
	}
	if err := devplanetest.Client(t).Create(t.Context(), s); err != nil {
		t.Fatalf("creating a schedule: %v", err)
	}
	return s
}

// patch applies a merge patch, as kubectl patch does.
func patch(t *testing.T, object client.Object, body string) {
	t.Helper()
	err := devplanetest.Client(t).Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(body)))
	if err != nil {
		t.Fatalf("patching %s: %v", object.GetName(), err)
	}
}

// awaitVerdict returns when the status reflects the spec and says active or
// not, and is ready.
func awaitVerdict(t *testing.T, s *v1alpha1.ManualSchedule, active bool) {
	t.Helper()
	generation := s.Generation
	devplanetest.Await(t, s, func() error { return verdictIs(s, generation, active) })
}

func verdictIs(s *v1alpha1.ManualSchedule, generation int64, active bool) error {
	switch ready := meta.FindStatusCondition(s.Status.Conditions, contract.ConditionReady); {
	case s.Status.ObservedGeneration < generation:
		return fmt.Errorf("observedGeneration is %d, not yet %d", s.Status.ObservedGeneration, generation)
	case s.Status.Active == nil:
		return errors.New("there is no verdict")
	case *s.Status.Active != active:
		return fmt.Errorf("active is %t", *s.Status.Active)
	case ready == nil:
		return errors.New("there is no Ready condition")
	case ready.Status != metav1.ConditionTrue:
		return fmt.Errorf("it is not ready: %s: %s", ready.Reason, ready.Message)
	}
	return nil
}

// awaitNotReady returns when the status reflects the spec and is not ready for
// the reason.
func awaitNotReady(t *testing.T, s *v1alpha1.ManualSchedule, reason string) {
	t.Helper()
	generation := s.Generation
	devplanetest.Await(t, s, func() error {
		ready := meta.FindStatusCondition(s.Status.Conditions, contract.ConditionReady)
		if s.Status.ObservedGeneration < generation || ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != reason {
			return fmt.Errorf("status %+v", s.Status)
		}
		return nil
	})
}

// requests reads what the audit log says of the requests of one test's program.
type requests struct {
	t         *testing.T
	reader    *devplane.AuditReader
	userAgent string
}

// watchRequests counts from now on.
func watchRequests(t *testing.T, userAgent string) *requests {
	t.Helper()
	r := &requests{t: t, reader: devplane.OpenAuditLog(devplanetest.Plane(t).AuditLog()), userAgent: userAgent}
	t.Cleanup(func() {
		if err := r.reader.Close(); err != nil {
			t.Error(err)
		}
	})
	r.untilNow()
	return r
}

// untilNow returns, in one line each, the requests since the last call that
// have ended, and watches that have begun.
func (r *requests) untilNow() []string {
	r.t.Helper()
	events, err := devplanetest.Plane(r.t).AuditUntilNow(devplanetest.Context(r.t), r.reader)
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for _, e := range events {
		if e.UserAgent != r.userAgent || (e.Verb == "watch") != (e.Stage == devplane.StageResponseStarted) {
			continue
		}
		what := e.Resource
		if e.Subresource != "" {
			what += "/" + e.Subresource
		}
		if what == "" {
			what = e.URI
		}
		name := strings.TrimPrefix(e.Namespace+"/"+e.Name, "/")
		lines = append(lines, fmt.Sprintf("%s %s %s %d", e.Verb, what, name, e.Code))
	}
	return lines
}

// patchesOf returns those lines that are patches of the status of an object of
// the namespace whose name begins with prefix.
func patchesOf(lines []string, namespace, prefix string) []string {
	var patches []string
	for _, line := range lines {
		if strings.HasPrefix(line, "patch manualschedules/status "+namespace+"/"+prefix) {
			patches = append(patches, line)
		}
	}
	return patches
}

func keyOf(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// settled numbers the objects of settle.
var settled atomic.Int64

// settle returns when all that the providers had to do for earlier events is
// done: the watch is in order, so an object that is created now is seen last.
func settle(t *testing.T, namespace string) {
	t.Helper()
	last := create(t, namespace, fmt.Sprintf("settle-%d", settled.Add(1)), v1alpha1.ManualScheduleSpec{Enabled: true})
	awaitVerdict(t, last, true)
}

var workday = time.Date(2026, time.June, 15, 6, 50, 0, 0, time.UTC)

func newClock() *clocktesting.FakeClock { return clocktesting.NewFakeClock(workday) }

func at(t time.Time) *metav1.Time { return &metav1.Time{Time: t} }
