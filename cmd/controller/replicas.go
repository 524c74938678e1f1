// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/fivespot/fivespot/internal/activation"
	"github.com/fivespot/fivespot/internal/shard"
)

// leaseName is the Lease that the leader holds or, with shards, all replicas together.
const leaseName = "5spot-leader"

// replicaOptions say how replicas share the work.
type replicaOptions struct {
	elect     bool
	namespace string
	// A leader that is killed is followed within the lease duration and two tries
	// to take the lease, each at most retryPeriod*(1+JitterFactor) after the one
	// before: 8 s + 2*2.2 s with the defaults, which leaves time to begin with
	// before 15 s are over. The leader itself has five tries to renew.
	leaseDuration, renewDeadline, retryPeriod time.Duration
	// shards is how many shards there are; fewer than two: none.
	shards         int
	maxActivations int
}

func defaultReplicaOptions() replicaOptions {
	return replicaOptions{
		namespace:     "5spot-system",
		leaseDuration: 8 * time.Second,
		renewDeadline: 5 * time.Second,
		retryPeriod:   time.Second,
		shards:        1,
	}
}

func (o *replicaOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.elect, "leader-elect", o.elect, "Work only while holding the lease, so that a standby can take over.")
	flags.StringVar(&o.namespace, "leader-election-namespace", o.namespace, "Namespace of the leases.")
	flags.DurationVar(&o.leaseDuration, "leader-election-lease-duration", o.leaseDuration, "How long after its last renewal a lease is another's to take; whole seconds.")
	flags.DurationVar(&o.renewDeadline, "leader-election-renew-deadline", o.renewDeadline, "How long after the last renewal of its lease a replica stops acting; less than the lease duration.")
	flags.DurationVar(&o.retryPeriod, "leader-election-retry-period", o.retryPeriod, "Time between two renewals, and between two attempts to take a lease.")
	flags.IntVar(&o.shards, "shards", o.shards, fmt.Sprintf("Divide the ScheduledMachines into this many shards, at most %d, each held by one of the replicas, instead of electing one leader for all; 0 or 1 for no shards. All replicas must have the same number.", shard.MaxShards))
	flags.IntVar(&o.maxActivations, "max-concurrent-activations", o.maxActivations, "How many machines may come up at a time, by spec.priority; 0 for any number. With shards each has an equal part of the number, at least 1.")
}

// validate returns an error that says which flag to change.
func (o *replicaOptions) validate() error {
	shortest := time.Duration(leaderelection.JitterFactor * float64(o.retryPeriod))
	switch {
	case o.leaseDuration < time.Second || o.leaseDuration%time.Second != 0:
		return fmt.Errorf("--leader-election-lease-duration=%s must be a number of whole seconds, as a Lease has no smaller unit", o.leaseDuration)
	case o.renewDeadline >= o.leaseDuration:
		return fmt.Errorf("--leader-election-renew-deadline=%s must be less than --leader-election-lease-duration=%s: a replica has to stop before another takes over", o.renewDeadline, o.leaseDuration)
	case o.retryPeriod <= 0:
		return fmt.Errorf("--leader-election-retry-period=%s must be more than zero", o.retryPeriod)
	case o.renewDeadline <= shortest:
		return fmt.Errorf("--leader-election-renew-deadline=%s must be more than %s, the longest pause between two tries with --leader-election-retry-period=%s", o.renewDeadline, shortest, o.retryPeriod)
	case o.shards < 0 || o.shards > shard.MaxShards:
		return fmt.Errorf("--shards=%d must be from 0 to %d", o.shards, shard.MaxShards)
	case o.maxActivations < 0:
		return fmt.Errorf("--max-concurrent-activations=%d must not be negative", o.maxActivations)
	case o.namespace == "":
		return errors.New("--leader-election-namespace must not be empty")
	}
	return nil
}

// sharded reports whether there are shards.
func (o *replicaOptions) sharded() bool { return o.shards >= shard.MinShards }

// electsLeader reports whether one replica leads all.
func (o *replicaOptions) electsLeader() bool { return o.elect && !o.sharded() }

// gate returns the gate that starting machines pass.
func (o *replicaOptions) gate() *activation.Gate {
	options := activation.Options{Limit: o.maxActivations}
	if o.sharded() {
		options.Partitions = o.shards
		options.PartitionOf = func(key types.NamespacedName) int { return shard.Of(key, o.shards) }
	}
	return activation.New(options)
}

// addReplica has the manager run this replica's part in the sharing of the work.
// It returns nil where there are no shards.
func (o *replicaOptions) addReplica(mgr manager.Manager) (*shard.Replica, error) {
	if !o.sharded() {
		return nil, nil
	}
	leases, err := coordinationv1client.NewForConfig(rest.AddUserAgent(rest.CopyConfig(mgr.GetConfig()), "shards"))
	if err != nil {
		return nil, fmt.Errorf("making a client for leases: %w", err)
	}
	name, err := replicaName()
	if err != nil {
		return nil, err
	}
	replica, err := shard.New(shard.Options{
		Shards: o.shards, Namespace: o.namespace, Lease: leaseName, Name: name,
		LeaseDuration: o.leaseDuration, RenewDeadline: o.renewDeadline, RetryPeriod: o.retryPeriod,
		Client: leases, Log: mgr.GetLogger().WithName("shards"),
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the shards: %w", err)
	}
	if err := mgr.Add(replica); err != nil {
		return nil, fmt.Errorf("adding the shards to the manager: %w", err)
	}
	return replica, nil
}

// replicaName returns the name of the pod, or of the host outside of one.
func replicaName() (string, error) {
	if pod := os.Getenv("POD_NAME"); pod != "" {
		return pod, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("finding the name of this replica: %w", err)
	}
	return host, nil
}

// leading reports whether this replica may act at the moment of the scrape.
func leading(mgr manager.Manager, replica *shard.Replica) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fivespot_is_leader",
		Help: "1 if this replica may act: as the leader or, with shards, for any shard; else 0.",
	}, func() float64 {
		acts := false
		if replica != nil {
			acts = replica.Held() > 0
		} else {
			select {
			case <-mgr.Elected():
				acts = true
			default:
			}
		}
		if acts {
			return 1
		}
		return 0
	})
}
