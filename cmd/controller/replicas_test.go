// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/shard"
)

func TestFlagsThatContradictEachOtherAreRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string // "" for none
	}{
		"the defaults":                {},
		"shards":                      {args: []string{"--shards=16", "--leader-elect"}},
		"no shards":                   {args: []string{"--shards=0"}},
		"a deadline after the lease":  {args: []string{"--leader-election-renew-deadline=8s"}, want: "--leader-election-renew-deadline=8s must be less than --leader-election-lease-duration=8s"},
		"a fraction of a second":      {args: []string{"--leader-election-lease-duration=8500ms"}, want: "--leader-election-lease-duration=8.5s must be a number of whole seconds"},
		"no lease at all":             {args: []string{"--leader-election-lease-duration=0"}, want: "--leader-election-lease-duration=0s must be"},
		"no time for a second try":    {args: []string{"--leader-election-retry-period=4500ms"}, want: "must be more than 5.4s"},
		"no pause between two tries":  {args: []string{"--leader-election-retry-period=0"}, want: "--leader-election-retry-period=0s must be more than zero"},
		"too many shards":             {args: []string{"--shards=17"}, want: "--shards=17 must be from 0 to 16"},
		"fewer shards than none":      {args: []string{"--shards=-1"}, want: "--shards=-1 must be"},
		"fewer activations than none": {args: []string{"--max-concurrent-activations=-1"}, want: "--max-concurrent-activations=-1 must not be negative"},
		"no namespace":                {args: []string{"--leader-election-namespace="}, want: "--leader-election-namespace must not be empty"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := defaultReplicaOptions()
			flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
			o.addFlags(flags)
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			err := o.validate()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// The times by default leave a standby no more than fifteen seconds, by the
// longest pauses between two of its attempts.
func TestTheDefaultsFollowAKilledLeaderWithinFifteenSeconds(t *testing.T) {
	o := defaultReplicaOptions()
	longestPause := o.retryPeriod.Seconds() * 2.2
	if longest := o.leaseDuration.Seconds() + 2*longestPause; longest > 13 {
		t.Errorf("it can take %.1f s to take the lease, and some time to begin", longest)
	}
}

// The rights on leases are by name: each that the program may use has one, and no other.
func TestTheRoleNamesTheLeasesOfAllShards(t *testing.T) {
	text, err := fs.ReadFile(deploy.FS, "controller/leader-election.yaml")
	if err != nil {
		t.Fatal(err)
	}
	document, _, _ := strings.Cut(string(text), "\n---\n")
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict([]byte(document), &role); err != nil {
		t.Fatal(err)
	}
	want := []string{leaseName}
	for i := range shard.MaxShards {
		want = append(want, shard.LeaseName(i))
	}
	for _, rule := range role.Rules {
		if !slices.Contains(rule.Resources, "leases") {
			continue
		}
		for _, verb := range rule.Verbs {
			named := slices.Contains([]string{"get", "update", "patch", "delete"}, verb)
			if got := fmt.Sprint(rule.ResourceNames); named && got != fmt.Sprint(want) {
				t.Errorf("%s of leases is of %s, want %v", verb, got, want)
			}
		}
	}
}
