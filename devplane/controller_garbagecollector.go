// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// kube-controller-manager looks for new kinds every 30 s, and only then begins
// to collect them. One machine can afford to look more often, and a test that
// installs a CustomResourceDefinition need not wait that long.
const discoveryPeriod = 2 * time.Second

const (
	garbageCollectorWorkers = 20 // kube-controller-manager's own default
	firstSyncTimeout        = 30 * time.Second
)

func garbageCollector(ctx context.Context, c *controllers) (loop, error) {
	config, client, err := c.client("generic-garbage-collector")
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making its metadata client: %w", err)
	}
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, metadataClient, c.mapper,
		garbagecollector.DefaultIgnoredResources(), c.informers(), c.started)
	collector, err := garbagecollector.NewComposedGarbageCollector(ctx, client, metadataClient, c.mapper, graph)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		var both sync.WaitGroup
		both.Go(func() { collector.Run(ctx, garbageCollectorWorkers, firstSyncTimeout) })
		both.Go(func() { collector.Sync(ctx, client.Discovery(), discoveryPeriod) })
		both.Wait()
	}, nil
}
