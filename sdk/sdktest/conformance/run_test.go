// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/fivespot/fivespot/api/contract"
)

func TestTroubleOfTheKitItself(t *testing.T) {
	tides := schema.GroupResource{Group: "spotschedules.5spot.finos.org", Resource: "tides"}
	missing := &missingError{time.Minute, errors.New("status.active is absent")}
	tests := map[string]struct {
		err  error
		want finding
		ends bool
	}{
		"what did not come fails":                    {err: fmt.Errorf("the spec was edited: %w", missing), want: finding{Failed, "the spec was edited: after 1m0s, status.active is absent"}},
		"what is not allowed is skipped":             {err: apierrors.NewForbidden(tides, "a", errors.New("no")), want: finding{outcome: Skipped}},
		"an answer of the API server fails":          {err: fmt.Errorf("editing: %w", apierrors.NewNotFound(tides, "a")), want: finding{outcome: Failed}},
		"an API server that is busy ends the run":    {err: fmt.Errorf("editing: %w", apierrors.NewTooManyRequests("too many", 1)), ends: true},
		"one that has no time ends the run":          {err: fmt.Errorf("editing: %w", apierrors.NewTimeoutError("no time", 1)), ends: true},
		"a wrong option ends the run":                {err: fmt.Errorf("making: %w", &OptionError{"On", "is refused"}), ends: true},
		"a server that does not answer ends the run": {err: errors.New("dial tcp: connection refused"), ends: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := weigh(t.Context(), finding{}, test.err)
			if (err != nil) != test.ends {
				t.Fatalf("the error is %v, and it is to end the run: %t", err, test.ends)
			}
			if got.outcome != test.want.outcome || test.want.message != "" && got.message != test.want.message {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	stopped, stop := context.WithCancelCause(t.Context())
	reason := errors.New("stopped by a person")
	stop(reason)
	if _, err := weigh(stopped, finding{}, missing); !errors.Is(err, reason) {
		t.Errorf("after a stop, the error is %v", err)
	}
}

// To leave out the check that there is a kind does not make one.
func TestWhatRestsOnACheckThatIsLeftOut(t *testing.T) {
	unserved := apiextensionsv1.CustomResourceDefinition{}
	unserved.Spec.Group, unserved.Spec.Names.Kind = contract.Group, "TideSchedule"
	for skipped, definitions := range map[string][]apiextensionsv1.CustomResourceDefinition{idGroup: nil, idEstablished: {unserved}} {
		o := Options{
			Kind: "TideSchedule", On: []byte("{}"), Off: []byte("{}"), Invalid: []byte("{}"),
			ServiceAccount: types.NamespacedName{Namespace: "tides", Name: "provider"},
			Restart:        func(context.Context) error { return nil },
		}
		s := &session{options: o, env: &env{options: &o, definitions: definitions}, left: leftOut(nil, []string{skipped})}
		for _, check := range Checks() {
			if !withNeeds(check.needs)[skipped] {
				continue
			}
			if found, err := s.look(t.Context(), &check); err != nil || found.outcome != Skipped {
				t.Errorf("without %s, %s: got %v and %v", skipped, check.ID, found, err)
			}
		}
	}
}

func TestResultsDoNotNameTheCluster(t *testing.T) {
	e := &env{config: &rest.Config{Host: "https://api.desk.example.com:6443"}}
	text := `Get "https://api.desk.example.com:6443/apis": dial tcp: lookup api.desk.example.com on 10.0.0.10:53`
	if got := e.publishable(text); strings.Contains(got, "desk.example.com") {
		t.Errorf("got %q", got)
	}
	const refusal = `namespaces is forbidden: User "ann@example.com" cannot create resource "namespaces"`
	if got, want := e.publishable(refusal), `namespaces is forbidden: the user cannot create resource "namespaces"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRestartByACommand(t *testing.T) {
	var out bytes.Buffer
	if err := RestartCommand(&out, "sh", "-c", "echo restarted")(t.Context()); err != nil || out.String() != "restarted\n" {
		t.Errorf("got %v and %q", err, out.String())
	}
	if err := RestartCommand(&out, "sh", "-c", "exit 3")(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
}

// A pod that ended by itself, after the provider's were listed, is not waited for.
func TestAPodThatIsGoneAlreadyIsNotWaitedFor(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "tides", Name: "provider-x7k2p", UID: "1"}}
	if err := replacePods(ctx, fake.NewFakeClient(), []corev1.Pod{pod}); err != nil {
		t.Error(err)
	}
}
