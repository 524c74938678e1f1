// SPDX-License-Identifier: Apache-2.0

package schedules_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/schedules"
)

func TestAKindInstalledAfterTheReferenceIsReadAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, devplanetest.Plane(t).Config())
	d.awaitReading(contract.Unresolved, contract.ReasonProviderCRDNotInstalled)
	d.install("v1")
	d.awaitReading(contract.Unresolved, contract.ReasonProviderNotFound)
	d.publish("v1", `{"active":true}`)
	d.awaitReading(contract.Active, contract.ReasonResolved)
	d.publish("v1", `{"active":false}`)
	d.awaitReading(contract.Inactive, contract.ReasonResolved)
	d.uninstall()
	d.awaitReading(contract.Unresolved, contract.ReasonProviderCRDNotInstalled)
}

func TestAReadingTellsStaleAndNextTransition(t *testing.T) {
	t.Parallel()
	d := newDesk(t, devplanetest.Plane(t).Config())
	d.install("v1")
	d.publish("v1", `{"active":true,"observedGeneration":0,"nextTransitionTime":"2031-05-06T07:08:09Z"}`)
	reading := d.awaitReading(contract.Active, contract.ReasonResolved)
	if !reading.Stale() || !reading.NextTransition.Equal(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)) {
		t.Errorf("got %+v, want stale, next at 2031-05-06T07:08:09Z", reading)
	}
}

func TestAnyServedVersionWillDo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, devplanetest.Plane(t).Config())
	d.install("v1", "v1alpha1")
	d.publish("v1alpha1", `{"active":true}`)
	d.awaitReading(contract.Active, contract.ReasonResolved)
	// The version that the reference names is v1: the other stays.
	devplanetest.Apply(t, []byte(d.definition([]string{"v1", "v1alpha1"}, []string{"v1alpha1"})))
	d.publish("v1alpha1", `{"active":false}`)
	d.awaitReading(contract.Inactive, contract.ReasonResolved)
	devplanetest.Apply(t, []byte(d.definition([]string{"v1", "v1alpha1"}, []string{"v1"})))
	d.publish("v1", `{"active":true}`)
	d.awaitReading(contract.Active, contract.ReasonResolved)
}

func TestAClusterScopedKindIsNoScheduleKind(t *testing.T) {
	t.Parallel()
	d := newDesk(t, devplanetest.Plane(t).Config())
	devplanetest.Apply(t, []byte(strings.Replace(d.definition([]string{"v1"}, []string{"v1"}), "Namespaced", "Cluster", 1)))
	ctx := devplanetest.Context(t)
	for {
		changed := d.nextChange()
		if reading, known := d.read(); known && strings.Contains(reading.Message, "cluster-scoped") {
			if reading.Reason != contract.ReasonProviderCRDNotInstalled {
				t.Errorf("reason is %s", reading.Reason)
			}
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("a cluster-scoped kind is not said to be one")
		}
	}
}

func TestAKindThatMayNotBeListedSaysSoAndRecovers(t *testing.T) {
	t.Parallel()
	plane := devplanetest.Plane(t)
	user := "reader-" + devplanetest.Namespace(t)
	grant(t, user, "apiextensions.k8s.io", "customresourcedefinitions")
	d := newDesk(t, plane.ImpersonatedConfig(user))
	d.install("v1")
	d.publish("v1", `{"active":true}`)
	reading := d.awaitReading(contract.Unresolved, schedules.ReasonProviderUnreadable)
	if !strings.Contains(reading.Message, "forbidden") {
		t.Errorf("the message is %q, want the API server's word", reading.Message)
	}
	grant(t, user, contract.Group, "*")
	d.awaitReading(contract.Active, contract.ReasonResolved)
}

// grant lets a user list and watch a resource.
func grant(t *testing.T, user, group, resource string) {
	t.Helper()
	devplanetest.Apply(t, fmt.Appendf(nil, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "%[1]s-%[2]s"}
rules:
- {apiGroups: ["%[2]s"], resources: ["%[3]s"], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "%[1]s-%[2]s"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "%[1]s-%[2]s"}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "%[1]s"}
`, user, group, resource))
}

// TestAKindThatComesAndGoesFiftyTimes is not parallel: it counts goroutines.
func TestAKindThatComesAndGoesFiftyTimes(t *testing.T) {
	const times = 50
	plane := devplanetest.Plane(t)
	config := plane.Config()
	config.UserAgent = "comes-and-goes"
	d := newDesk(t, config)
	d.awaitReading(contract.Unresolved, contract.ReasonProviderCRDNotInstalled)
	before := followers(t)
	audit := devplane.OpenAuditLog(plane.AuditLog())
	defer audit.Close()
	if err := audit.SkipToEnd(); err != nil {
		t.Fatal(err)
	}

	for range times {
		d.install("v1")
		d.publish("v1", `{"active":true}`)
		d.awaitReading(contract.Active, contract.ReasonResolved)
		d.uninstall()
		d.awaitReading(contract.Unresolved, contract.ReasonProviderCRDNotInstalled)
	}

	awaitFollowers(t, before)
	events, err := plane.AuditUntilNow(devplanetest.Context(t), audit)
	if err != nil {
		t.Fatal(err)
	}
	requests := 0
	for _, event := range events {
		if event.UserAgent == "comes-and-goes" && event.Resource == d.plural() && event.Stage != devplane.StageResponseStarted {
			requests++
		}
	}
	// One watch that lists first, and at most two more tries: a definition is
	// established a moment before it is served, and gone a moment after.
	if limit := 4 * times; requests > limit {
		t.Errorf("%d requests for %d comings and goings, want at most %d", requests, times, limit)
	}
}

// followers counts the goroutines that follow a kind.
func followers(t *testing.T) int {
	t.Helper()
	var dump bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&dump, 2); err != nil {
		t.Fatal(err)
	}
	return strings.Count(dump.String(), "kinds.(*follower")
}

// awaitFollowers waits until no more than so many goroutines follow a kind: one that
// was told to stop does so in its own time, and tells nobody.
func awaitFollowers(t *testing.T, most int) {
	t.Helper()
	err := wait.PollUntilContextCancel(devplanetest.Context(t), 10*time.Millisecond, true,
		func(context.Context) (bool, error) { return followers(t) <= most, nil })
	if err != nil {
		t.Errorf("%d goroutines follow kinds, %d did before", followers(t), most)
	}
}
