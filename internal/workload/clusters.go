// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/alarm"
)

// Options of Clusters. The zero value of a field means what its comment says.
type Options struct {
	// Config leads to the management cluster. It is needed.
	Config *rest.Config
	// Wake is called with the owner of a view that has changed; it must not block.
	// It is needed.
	Wake func(owner types.NamespacedName)
	// Clock tells the time. Nil: the wall clock.
	Clock clock.Clock
	// Metrics is where metrics are registered. Nil: nowhere.
	Metrics prometheus.Registerer
	// Log receives what an operator may want to know. Zero: nothing.
	Log logr.Logger
	// Limit is how many kubeconfigs are followed at most. Zero: 256. One that is
	// beyond it is Unreachable with ReasonTooManyClusters.
	Limit int
	// IdlePeriod is how long a connection that nobody uses is kept. Zero: 10 minutes.
	IdlePeriod time.Duration
}

func (o *Options) applyDefaults() {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	if o.Limit == 0 {
		o.Limit = 256
	}
	if o.IdlePeriod == 0 {
		o.IdlePeriod = 10 * time.Minute
	}
}

// Clusters knows the workload clusters that its users have asked for. Its
// methods may be called from any goroutine, and none waits for a cluster.
type Clusters struct {
	options  Options
	patience patience
	metrics  *metrics
	secrets  kubernetes.Interface // of the management cluster
	idle     *alarm.Queue[secretKey]
	running  sync.WaitGroup

	mu      sync.Mutex
	ctx     context.Context      // nil before Start and after its end
	entries map[secretKey]*entry // the management cluster's has the zero key
	owners  map[types.NamespacedName]*use
	// roomMade is set when an entry has lost its last owner.
	roomMade bool
}

// use is what one owner looks at.
type use struct {
	reference Reference
	target    Target
	// entry follows the owner's Secret; nil while there are too many clusters,
	// since refusedAt.
	entry     *entry
	refusedAt time.Time
	// management is the management cluster's entry while that stands in.
	management *entry
	// counted is the connection that the owner's last resolution led to.
	counted *connection
}

// New returns Clusters that know nothing yet. They connect once started.
func New(options Options) (*Clusters, error) {
	options.applyDefaults()
	secrets, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client for kubeconfig Secrets: %w", err)
	}
	counters, err := newMetrics(options.Metrics)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return &Clusters{
		options: options, patience: usualPatience, metrics: counters, secrets: secrets,
		idle:    alarm.New[secretKey](options.Clock),
		entries: map[secretKey]*entry{},
		owners:  map[types.NamespacedName]*use{},
	}, nil
}

// NeedLeaderElection tells the manager that Clusters may run anywhere: they
// connect to nothing before a reconcile, which does need a lease, asks for it.
func (c *Clusters) NeedLeaderElection() bool { return false }

// Start connects to what is used until the context ends, and returns when every
// connection is closed.
func (c *Clusters) Start(ctx context.Context) error {
	c.mu.Lock()
	c.ctx = ctx
	for _, e := range c.entries {
		c.open(e) //nolint:contextcheck // the context is c.ctx, which an entry's own is made of
	}
	c.mu.Unlock()

	c.idle.Run(ctx, c.closeIdle)

	c.mu.Lock()
	c.ctx = nil
	c.mu.Unlock()
	c.running.Wait()
	return nil
}

// Use says what an owner looks at from now on, in place of anything it looked at
// before, and returns what is known of it. The owner is woken when that changes.
// The same call again is cheap and changes nothing.
func (c *Clusters) Use(owner types.NamespacedName, reference Reference, target Target) View {
	defer c.wakeWaiting()
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.owners[owner]
	if u == nil {
		u = &use{}
		c.owners[owner] = u
	}
	u.reference, u.target = reference, target
	if key := reference.secret(); u.entry == nil || u.entry.key != key {
		c.leave(owner, u.entry)
		u.entry = c.join(owner, key)
		c.noteRefusal(u)
	}
	return c.resolve(owner, u)
}

// noteRefusal remembers since when there is no room for an owner.
func (c *Clusters) noteRefusal(u *use) {
	switch {
	case u.entry != nil:
		u.refusedAt = time.Time{}
	case u.refusedAt.IsZero():
		u.refusedAt = c.options.Clock.Now()
		c.metrics.failed(c.tooMany().label)
	}
}

// Release says that an owner looks at nothing any more. Releasing one that does
// not does nothing.
func (c *Clusters) Release(owner types.NamespacedName) {
	defer c.wakeWaiting()
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := c.owners[owner]; u != nil {
		c.leave(owner, u.entry)
		c.leave(owner, u.management)
		delete(c.owners, owner)
	}
}

// Wrote tells of a Node as a write by way of an owner's client has just returned
// it, so that the next view shows it even if the watch has yet to bring it.
func (c *Clusters) Wrote(owner types.NamespacedName, node *corev1.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.owners[owner]
	if u == nil || u.entry == nil {
		return
	}
	connected := u.entry.connection
	if u.management != nil {
		connected = u.management.connection
	}
	if connected != nil {
		connected.nodes.wrote(node)
	}
}

// resolve follows the chain of a reference to a cluster, and describes that.
func (c *Clusters) resolve(owner types.NamespacedName, u *use) View {
	switch {
	case u.entry == nil:
		c.metrics.resolved(resultError)
		return unreachable(c.tooMany(), u.refusedAt)
	case u.entry.secret == secretAbsent && !u.reference.failsClosed():
		if u.management == nil {
			u.management = c.join(owner, secretKey{})
		}
		return c.describe(u, u.management)
	}
	c.leave(owner, u.management)
	u.management = nil
	return c.describe(u, u.entry)
}

// describe returns what is known of the cluster that an entry leads to.
func (c *Clusters) describe(u *use, e *entry) View {
	switch {
	case e.fault != nil:
		u.counted = nil
		c.metrics.resolved(resultError)
		if e.told != e.fault {
			e.told = e.fault
			c.failed(e, e.fault)
		}
		return unreachable(e.fault, e.since)
	case e.connection == nil:
		return View{Reason: ReasonConnecting, Message: "Looking for " + e.key.String()}
	}
	c.count(u, e)
	view := e.connection.view(u.target)
	view.Management = e.isManagement()
	if view.State == Reachable {
		view.Message = "Reached by the kubeconfig in " + e.key.String()
		if view.Management {
			view.Message = "The management cluster is the workload cluster: there is no Secret " + u.entry.key.Name
		}
	}
	return view
}

func unreachable(why *fault, since time.Time) View {
	return View{State: Unreachable, Reason: why.reason, Message: why.message, Since: since}
}

func (c *Clusters) tooMany() *fault {
	return &fault{reason: ReasonTooManyClusters, label: "too_many", message: fmt.Sprintf(
		"The controller follows %d workload clusters already and no more", c.options.Limit)}
}

// count counts how an owner's reference was resolved.
func (c *Clusters) count(u *use, e *entry) {
	result := resultCacheHit
	switch before := u.counted; {
	case before == e.connection:
	case before != nil && before.entry == e:
		result = resultRebuild
	case e.isManagement():
		result = resultManagement
	case u.reference.explicit():
		result = resultExplicit
	default:
		result = resultAuto
	}
	u.counted = e.connection
	c.metrics.resolved(result)
}
