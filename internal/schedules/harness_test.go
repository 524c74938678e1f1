// SPDX-License-Identifier: Apache-2.0

package schedules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/kinds"
	"github.com/fivespot/fivespot/internal/schedules"
)

// desk is a running cache of schedules and a client to change them with.
type desk struct {
	*testing.T
	cache     *schedules.Cache
	client    client.WithWatch
	namespace string
	kind      string

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever the cache reports a change
}

// newDesk runs a cache against the API server that config leads to. Each desk
// has a schedule kind of its own.
func newDesk(t *testing.T, config *rest.Config) *desk {
	t.Helper()
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := kinds.NewRegistry(dynamicClient)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{
		T: t, cache: schedules.New(dynamicClient, registry, logr.Discard()),
		client: devplanetest.Client(t), namespace: devplanetest.Namespace(t),
		changed: make(chan struct{}),
	}
	id := strings.TrimPrefix(d.namespace, "test-")
	d.kind = "K" + id + "Schedule"
	d.cache.Store().Subscribe(
		func(schema.GroupKind, types.NamespacedName) { d.tell() },
		func(schema.GroupKind) { d.tell() },
	)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	for _, start := range []func(context.Context) error{registry.Start, d.cache.Store().Start} {
		running.Go(func() {
			if err := start(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	return d
}

func (d *desk) tell() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.changed)
	d.changed = make(chan struct{})
}

// nextChange returns a channel that is closed at the next change.
func (d *desk) nextChange() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed
}

// awaitReading waits, woken by the cache and by nothing else, until the
// schedule "desk" reads as wanted.
func (d *desk) awaitReading(state contract.State, reason string) contract.Reading {
	d.Helper()
	ctx := devplanetest.Context(d.T)
	for {
		changed := d.nextChange()
		reading, known := d.read()
		if known && reading.State == state && reading.Reason == reason {
			return reading
		}
		select {
		case <-changed:
		case <-ctx.Done():
			d.Fatalf("the schedule reads as %+v (known: %v), want %s, %s", reading, known, state, reason)
		}
	}
}

func (d *desk) read() (contract.Reading, bool) {
	return d.cache.Read(d.namespace, v1beta1.ScheduleReference{
		APIVersion: contract.Group + "/v1", Kind: d.kind, Name: "desk",
	})
}

func (d *desk) plural() string { return strings.ToLower(d.kind) + "s" }

// install installs the desk's kind at its versions; the first is the storage version.
func (d *desk) install(versions ...string) {
	d.Helper()
	devplanetest.Apply(d.T, []byte(d.definition(versions, versions)))
}

func (d *desk) definition(versions, served []string) string {
	var list strings.Builder
	for i, version := range versions {
		fmt.Fprintf(&list, `
  - name: %s
    served: %v
    storage: %v
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`,
			version, slices.Contains(served, version), i == 0)
	}
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {kind: %[3]s, listKind: %[3]sList, plural: %[1]s, singular: %[4]s}
  versions:%[5]s
`, d.plural(), contract.Group, d.kind, strings.ToLower(d.kind), list.String())
}

// uninstall removes the desk's kind and waits until it is gone.
func (d *desk) uninstall() {
	d.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	crd.SetName(d.plural() + "." + contract.Group)
	if err := d.client.Delete(d.Context(), crd); err != nil {
		d.Fatal(err)
	}
	devplanetest.AwaitGone(d.T, crd)
}

// publish makes the schedule "desk" or sets its status, at a version.
func (d *desk) publish(version, status string) {
	d.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(contract.Group + "/" + version)
	u.SetKind(d.kind)
	u.SetNamespace(d.namespace)
	u.SetName("desk")
	if err := d.client.Create(d.Context(), u); client.IgnoreAlreadyExists(err) != nil {
		d.Fatal(err)
	}
	if err := d.client.Status().Patch(d.Context(), u, client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`))); err != nil {
		d.Fatal(err)
	}
}

// contextWithStop returns a context that also ends when stop is closed.
func contextWithStop(parent context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
