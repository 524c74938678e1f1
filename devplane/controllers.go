// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
)

// controllers runs the ones of kube-controller-manager that are linked here,
// over caches that they share.
type controllers struct {
	clients  clients
	layout   layout
	typed    informers.SharedInformerFactory
	metadata metadatainformer.SharedInformerFactory
	mapper   *restmapper.DeferredDiscoveryRESTMapper
	started  chan struct{} // closed once the informers run
	running  sync.WaitGroup
}

// loop is a controller that is ready to run. It returns when ctx is done.
type loop func(ctx context.Context)

// constructor makes a controller and registers its informers.
type constructor struct {
	name string
	make func(context.Context, *controllers) (loop, error)
}

// The full list; disruption is asked for by a flag.
var (
	alwaysRun = []constructor{
		{"garbage collector", garbageCollector},
		{"namespace", namespaces},
		{"service account", serviceAccounts},
		{"service account token", serviceAccountTokens},
		{"root CA publisher", rootCAPublisher},
		{"cluster role aggregation", clusterRoleAggregation},
	}
	onRequest = constructor{"disruption", disruptionBudgets}
)

func newControllers(c clients, l layout) (*controllers, error) {
	config, err := c.manager()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of the shared informers: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the metadata client of the shared informers: %w", err)
	}
	return &controllers{
		clients:  c,
		layout:   l,
		typed:    informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(withoutManagedFields)),
		metadata: metadatainformer.NewSharedInformerFactoryWithOptions(metadataClient, 0, metadatainformer.WithTransform(withoutManagedFields)),
		mapper:   restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
		started:  make(chan struct{}),
	}, nil
}

// start runs the controllers and returns when their caches are filled. They
// stop when ctx is done; wait then waits for them.
func (c *controllers) start(ctx context.Context, list []constructor) error {
	for _, each := range list {
		run, err := each.make(ctx, c)
		if err != nil {
			return fmt.Errorf("making the %s controller: %w", each.name, err)
		}
		c.running.Go(func() { run(ctx) })
	}
	c.typed.StartWithContext(ctx)
	c.metadata.Start(ctx.Done())
	close(c.started)
	if result := c.typed.WaitForCacheSyncWithContext(ctx); result.Err != nil {
		return errors.New("filling the caches of the controllers: stopped before it was done")
	}
	return nil
}

func (c *controllers) wait() {
	c.running.Wait()
	c.typed.Shutdown()
	c.metadata.Shutdown()
}

// informers is the view of both factories that the graph builder takes.
func (c *controllers) informers() informerfactory.InformerFactory {
	return informerfactory.NewInformerFactory(c.typed, c.metadata)
}

// client is for a controller, see clients.controller.
func (c *controllers) client(name string) (*rest.Config, kubernetes.Interface, error) {
	config, err := c.clients.controller(name)
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making the client of %s: %w", name, err)
	}
	return config, client, nil
}

// withoutManagedFields keeps the caches small; no controller here reads them.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}
