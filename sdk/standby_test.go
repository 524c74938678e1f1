// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	_ "embed"
	"strings"
	"testing"

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
}
