// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/sdk"
)

type tideTable struct{}

var tideTables = sdk.ObjectsOf[tideTable](schema.GroupVersionResource{Group: "tides.example.com", Version: "v1", Resource: "tidetables"})

func TestTheRightsThatAProviderNeeds(t *testing.T) {
	own := func(plural string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{
			{APIGroups: []string{contract.Group}, Resources: []string{plural}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{contract.Group}, Resources: []string{plural + "/status"}, Verbs: []string{"get", "update", "patch"}},
		}
	}
	reads := func(group, resource string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{
			APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"list", "watch"}, ResourceNames: names,
		}
	}
	tests := []struct {
		name    string
		kind    string
		options []sdk.Option
		want    []rbacv1.PolicyRule
	}{
		{name: "its kind and the status of it", kind: "TideSchedule", want: own("tideschedules")},
		{name: "a kind that ends in y", kind: "TradingDay", want: own("tradingdays")},
		{name: "a kind that ends in y after a consonant", kind: "Frequency", want: own("frequencies")},
		{name: "a kind of another plural", kind: "Ox", options: []sdk.Option{sdk.WithResource("oxen")}, want: own("oxen")},
		{
			name: "what it reads, in order", kind: "TideSchedule",
			options: []sdk.Option{sdk.WithReads(tideTables, sdk.Secrets, sdk.ConfigMaps)},
			want: append(own("tideschedules"),
				reads("", "configmaps"), reads("", "secrets"), reads("tides.example.com", "tidetables")),
		},
		{
			name: "some names only", kind: "TideSchedule",
			options: []sdk.Option{
				sdk.WithReads(sdk.Secrets.Named("tide-feed", "moon-feed")),
				sdk.WithReads(sdk.Secrets.Named("moon-feed")),
			},
			want: append(own("tideschedules"), reads("", "secrets", "moon-feed", "tide-feed")),
		},
		{
			name: "some names and all are all", kind: "TideSchedule",
			options: []sdk.Option{sdk.WithReads(sdk.Secrets.Named("tide-feed"), sdk.Secrets)},
			want:    append(own("tideschedules"), reads("", "secrets")),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind := schema.GroupVersionKind{Group: contract.Group, Version: "v1", Kind: test.kind}
			provider := sdk.New(kind, func(context.Context, *WatchSchedule, time.Time) (sdk.Decision, error) {
				return sdk.Decision{}, nil
			}, test.options...)
			if diff := cmp.Diff(test.want, provider.Rules()); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADeclarationThatGrantsTooMuchByMistakeIsRefused(t *testing.T) {
	var none []string
	for want, option := range map[string]sdk.Option{
		"Named is called without a name": sdk.WithReads(sdk.Secrets.Named(none...)),
		"needs a version and a name":     sdk.WithReads(sdk.ObjectsOf[tideTable](schema.GroupVersionResource{Resource: "tidetables"})),
	} {
		provider := sdk.New(watchKind, EvaluateWatch, option)
		if err := sdk.Run(t.Context(), sdk.Settings{}, provider); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want one that says %q", err, want)
		}
	}
}
