// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/kinds"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // client-go reports the refusal that a test asks for
	devplanetest.Main(m, devplanetest.CRDs)
}

// startRegistry returns a registry and a channel with a token for each change.
func startRegistry(t *testing.T, config *rest.Config) (registry *kinds.Registry, changes <-chan struct{}) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, client)
}

// start is startRegistry with a client.
func start(t *testing.T, client dynamic.Interface) (registry *kinds.Registry, changes <-chan struct{}) {
	t.Helper()
	registry, err := kinds.NewRegistry(client)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{}, 1)
	registry.Subscribe(func(schema.GroupKind) {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- registry.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return registry, told
}

func await(t *testing.T, changes <-chan struct{}, done func() bool) {
	t.Helper()
	ctx := devplanetest.Context(t)
	for !done() {
		select {
		case <-changes:
		case <-ctx.Done():
			t.Fatal("it does not come")
		}
	}
}

func TestARegistryIsReadyOnceItKnowsTheKinds(t *testing.T) {
	t.Parallel()
	registry, changes := startRegistry(t, devplanetest.Plane(t).Config())
	await(t, changes, func() bool { return registry.Err() == nil })
	kind, state, err := registry.Lookup(schema.GroupKind{Group: "5spot.finos.org", Kind: "ScheduledMachine"})
	if err != nil || state != kinds.Present || kind.Plural != "scheduledmachines" || kind.Preferred() != "v1beta1" {
		t.Errorf("got %+v, state %d, error %v", kind, state, err)
	}
	if _, state, _ := registry.Lookup(schema.GroupKind{Group: "5spot.finos.org", Kind: "Nothing"}); state != kinds.NotInstalled {
		t.Errorf("a kind without CRD has state %d, want NotInstalled", state)
	}
}

func TestARegistryThatMayNotListSaysSo(t *testing.T) {
	t.Parallel()
	registry, changes := startRegistry(t, devplanetest.Plane(t).ImpersonatedConfig("nobody"))
	await(t, changes, func() bool { return registry.Err() != nil && strings.Contains(registry.Err().Error(), "forbidden") })
	if _, state, err := registry.Lookup(schema.GroupKind{Kind: "Anything"}); state != kinds.Unreadable || err == nil {
		t.Errorf("state %d, error %v: want Unreadable with the reason", state, err)
	}
}
