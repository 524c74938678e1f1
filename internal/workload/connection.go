// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// connection is a cluster whose Nodes are followed. Its fields are guarded by
// the mutex of Clusters.
type connection struct {
	entry  *entry
	where  string // the API server, at the beginning of a sentence
	client kubernetes.Interface
	nodes  *nodeStore
	probe  func()
	stop   context.CancelFunc

	state State
	fault *fault // while Unreachable
	since time.Time
	// suspected is set from when a request fails until a watch tells whether the
	// cluster is well; when it is, requests alone are not believed until trustedUntil.
	suspected    bool
	trustedUntil time.Time
}

// trustPeriod is for how long a cluster that has proved to be well is not taken to be
// out of reach for a request that fails, such as one that a webhook holds up. Whoever
// makes it tries again by their own back-off; woken, they would at once.
const trustPeriod = 10 * time.Minute

// clients are the two ways to speak to one cluster: one whose watches may last,
// and one whose requests end soon.
type clients struct {
	lasting, brief kubernetes.Interface
	// close closes the connections.
	close func()
}

// connect makes a new connection of an entry, in place of any before it.
func (c *Clusters) connect(e *entry, config *rest.Config) {
	made := &connection{entry: e, where: "The API server " + hostOf(config.Host)}
	both, err := newClients(config, c.patience, func(err error) { c.suspect(made, err) })
	if err != nil { // the parts were tried before
		c.setFault(e, invalid(e.key, "holds a kubeconfig that no client can be made of"))
		return
	}
	c.follow(e, made, both)
}

// connectManagement makes the connection of the management cluster's entry.
func (c *Clusters) connectManagement(e *entry) {
	made := &connection{entry: e, where: "The API server of the management cluster"}
	brief := rest.CopyConfig(c.options.Config)
	brief.Timeout = RequestTimeout
	brief.Wrap(func(next http.RoundTripper) http.RoundTripper { return limited{next} })
	client, err := kubernetes.NewForConfig(brief)
	if err != nil { // a client was made of the same before
		c.options.Log.Error(err, "cannot make a client for the management cluster")
		return
	}
	c.follow(e, made, &clients{lasting: c.secrets, brief: client, close: func() {}})
}

func (c *Clusters) follow(e *entry, made *connection, both *clients) {
	if e.connection != nil {
		e.connection.stop()
	}
	made.client = both.brief
	made.nodes = newNodeStore(&c.mu, func(nodes []string) { c.nodesChanged(made, nodes) })
	var ctx context.Context
	ctx, made.stop = context.WithCancel(e.ctx)
	f := c.followNodes(made, both.lasting)
	made.probe = f.probe
	e.connection, e.fault = made, nil
	c.running.Go(func() {
		defer both.close()
		f.run(ctx, "Nodes of a workload cluster")
	})
}

func (c *Clusters) followNodes(made *connection, client kubernetes.Interface) *follower {
	nodes := client.CoreV1().Nodes()
	var listed nodeMeasure
	return &follower{
		list: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := nodes.List(ctx, options)
			if err != nil {
				return nil, err
			}
			if options.Continue == "" {
				listed = nodeMeasure{}
			}
			for i := range list.Items {
				if listed = listed.with(reduceNode(&list.Items[i])); listed.tooMuch() {
					return nil, errTooLarge
				}
			}
			return list, nil
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return nodes.Watch(ctx, options)
		},
		admit: func(object runtime.Object) bool {
			node, ok := object.(*corev1.Node)
			if !ok {
				return true
			}
			kept := reduceNode(node)
			c.mu.Lock()
			defer c.mu.Unlock()
			return made.nodes.admit(kept)
		},
		kind:     &corev1.Node{},
		store:    made.nodes,
		classify: func(err error) *fault { return classify(err, made.where, followNodesVerbs) },
		health:   func(why *fault) { c.healthChanged(made, why) },
		longest:  c.patience.watch,
	}
}

// followNodesVerbs are what following Nodes needs.
const followNodesVerbs = "list and watch Nodes"

// healthChanged takes in that a watch stands (nil), or why none does.
func (c *Clusters) healthChanged(of *connection, why *fault) {
	c.mu.Lock()
	if of.suspected && why == nil {
		of.trustedUntil = c.options.Clock.Now().Add(trustPeriod)
	}
	of.suspected = false
	concerned := c.concerned(of, why)
	c.mu.Unlock()
	c.wake(concerned)
}

// concerned takes in how a cluster is, and returns the owners for whom that is new.
func (c *Clusters) concerned(of *connection, why *fault) []types.NamespacedName {
	if of.entry.connection != of || !c.setHealth(of, why) {
		return nil
	}
	return of.entry.ownerNames()
}

// setHealth reports whether the state or its reason changed. A cluster that is
// out of reach now in one way and now in another stays so for the first one's
// words, so that no status is written for each attempt.
func (c *Clusters) setHealth(of *connection, why *fault) bool {
	if why == nil {
		if of.state == Reachable {
			return false
		}
		of.state, of.fault, of.since = Reachable, nil, c.options.Clock.Now()
		c.options.Log.Info("a workload cluster is reached", "namespace", of.entry.key.Namespace, "secret", of.entry.key.Name)
		return true
	}
	if of.state == Unreachable && of.fault.reason == why.reason {
		return false
	}
	if of.state != Unreachable {
		of.state, of.since = Unreachable, c.options.Clock.Now()
	}
	of.fault = why
	c.failed(of.entry, why)
	return true
}

// failed counts and logs that a cluster went out of reach.
func (c *Clusters) failed(e *entry, why *fault) {
	c.metrics.failed(why.label)
	c.options.Log.Info("a workload cluster cannot be reached",
		"namespace", e.key.Namespace, "secret", e.key.Name, "reason", why.reason, "message", why.message)
}

// suspect takes in that a request of a view's client went as any other would.
// Nobody is to try the same until a watch stands again.
func (c *Clusters) suspect(of *connection, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, errClosed) {
		return
	}
	var concerned []types.NamespacedName
	c.mu.Lock()
	if !c.options.Clock.Now().Before(of.trustedUntil) {
		of.suspected = true
		concerned = c.concerned(of, classify(err, of.where, "change Nodes"))
	}
	probe := of.probe
	c.mu.Unlock()
	c.wake(concerned)
	probe()
}

// nodesChanged wakes the owners that look at one of the Nodes.
func (c *Clusters) nodesChanged(of *connection, nodes []string) {
	c.mu.Lock()
	var owners []types.NamespacedName
	if of.entry.connection == of {
		owners = c.lookingAt(of, nodes)
	}
	c.mu.Unlock()
	c.wake(owners)
}

// lookingAt returns the owners whose reference leads to the connection and who
// look at one of the Nodes.
func (c *Clusters) lookingAt(of *connection, nodes []string) []types.NamespacedName {
	wanted := map[string]bool{}
	for _, node := range nodes {
		wanted[node] = true
	}
	var owners []types.NamespacedName
	for owner := range of.entry.owners {
		if wanted[c.owners[owner].target.Node] {
			owners = append(owners, owner)
		}
	}
	return owners
}

// view describes the connection and one Node.
func (of *connection) view(target Target) View {
	view := View{State: of.state, Since: of.since}
	switch of.state {
	case Loading:
		view.Reason, view.Message = ReasonConnecting, of.where+" is being connected to"
	case Unreachable:
		view.Reason, view.Message = of.fault.reason, of.fault.message
	case Reachable:
		view.Reason, view.Client = v1beta1.ReasonReachable, of.client
	}
	node, synced := of.nodes.get(target.Node)
	switch {
	case !synced || target.Node == "":
	case node == nil:
		view.NodeState = NodeAbsent
	case target.ProviderID != "" && node.ProviderID != target.ProviderID:
		view.NodeState = NodeForeign
	default:
		view.NodeState, view.Node = NodePresent, node
	}
	return view
}

// newClients returns clients of their own pool of connections. failed is called
// when a request of the brief one fails as any other would.
func newClients(config *rest.Config, wait patience, failed func(error)) (*clients, error) {
	transport, closeAll, err := newTransport(config, wait)
	if err != nil {
		return nil, err
	}
	lasting, err := newHTTPClient(config, transport, 0)
	if err != nil {
		return nil, err
	}
	brief, err := newHTTPClient(config, reporting{transport, failed}, RequestTimeout)
	if err != nil {
		return nil, err
	}
	both := &clients{close: closeAll}
	if both.lasting, err = kubernetes.NewForConfigAndClient(config, lasting); err != nil {
		return nil, err
	}
	both.brief, err = kubernetes.NewForConfigAndClient(config, brief)
	return both, err
}

// reporting tells when a request finds no answer, or one that any other request
// would find as well.
type reporting struct {
	next   http.RoundTripper
	failed func(error)
}

// RoundTrip implements http.RoundTripper.
func (r reporting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	switch {
	case err != nil:
		r.failed(err)
	case response.StatusCode == http.StatusUnauthorized:
		r.failed(apierrors.NewUnauthorized(""))
	}
	return response, err
}

// hostOf returns scheme and host of a URL that was found to be one.
func hostOf(server string) string {
	parsed, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return parsed.Scheme + "://" + parsed.Host
}
