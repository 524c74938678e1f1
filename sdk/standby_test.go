// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	_ "embed"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

//go:embed testdata/lease-rbac.yaml
var leaseRBAC []byte

func TestAStandbyWritesNothingUntilTheLeaderStops(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	devplanetest.ApplyIn(t, namespace, leaseRBAC)
	run := func(userAgent string) *running {
		config := account(t)
		config.UserAgent = userAgent
		return start(t, sdk.Settings{RESTConfig: config, LeaderElect: true, LeaderElectionNamespace: namespace}, manual.Provider())
	}
	leader := run("leader")
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{})
	awaitVerdict(t, s, false)

	seen := watchRequests(t, "standby")
	standby := run("standby")
	standby.log.await(t, "Attempting to acquire leader lease")
	patch(t, s, `{"spec":{"enabled":true}}`)
	awaitVerdict(t, s, true)
	settle(t, namespace)
	for _, line := range seen.untilNow() {
		if !strings.Contains(line, " leases ") && !strings.HasPrefix(line, "get /api") {
			t.Errorf("the standby did more than stand by: %s", line)
		}
	}

	leader.stop()
	patch(t, s, `{"spec":{"enabled":false}}`)
	awaitVerdict(t, s, false)
	standby.stop()
	for _, line := range seen.untilNow() {
		if strings.HasSuffix(line, " 403") {
			t.Errorf("it asked for what it may not do: %s", line)
		}
	}

	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: namespace, Name: "manualschedule.spotschedules.5spot.finos.org"}
	if err := devplanetest.Client(t).Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
		t.Errorf("the program that stopped did not give back the lease: %s", *holder)
	}
}
