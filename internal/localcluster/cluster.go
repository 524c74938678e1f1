// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulesv1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	fivespotv1 "github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/process"
)

// readyTimeout bounds the start of a part. Each takes seconds.
const readyTimeout = 2 * time.Minute

// A Cluster is a running whole.
type Cluster struct {
	options    Options
	files      layout
	ports      portPicker
	unlock     func()
	kubeconfig string // of an administrator
	config     *rest.Config
	client     client.WithWatch
	accounts   *credentialStore

	life    context.Context // ends with the Cluster
	endLife context.CancelCauseFunc

	mu      sync.Mutex
	started []*Part // in the order in which they became ready

	stopping sync.Once
	stopErr  error
}

// Start starts the parts in their order, each ready before the next. It
// returns an *InUseError if another Cluster runs on the same directory, and a
// *PartError if a part ended on the way. ctx bounds the start only.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: o, files: layout(o.Dir)}
	c.life, c.endLife = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory: %w", err)
	}
	if c.unlock, err = c.files.takeLock(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	giveUp := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) }) //nolint:contextcheck // a part that ends the start
	defer giveUp()
	if err := c.start(ctx); err != nil {
		if ended := c.Err(); ended != nil {
			err = ended // the reason why the rest could not go on
		}
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.startControlPlane(ctx); err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	if err := c.applyDeploy(ctx); err != nil {
		return err
	}
	if !c.options.WithoutCAPI {
		if err := c.startManagers(ctx); err != nil {
			return err
		}
	}
	if !c.options.WithoutWorkloadCluster {
		if err := c.startWorkloadCluster(ctx); err != nil {
			return err
		}
	}
	return c.startOurs(ctx)
}

// connect makes the administrator's clients.
func (c *Cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	c.config = config
	if c.client, err = client.NewWithWatch(config, client.Options{Scheme: newScheme()}); err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	c.accounts = &credentialStore{
		dir:        c.files.credentials(),
		kubeconfig: c.kubeconfig,
		client:     clientset,
		clock:      c.options.Clock,
	}
	return nil
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		clusterv1.AddToScheme,
		fivespotv1.AddToScheme,
		schedulesv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // types that cannot be registered are a fault of the program
		}
	}
	return scheme
}

func (c *Cluster) applyDeploy(ctx context.Context) error {
	objects, err := deployManifests()
	if err != nil {
		return err
	}
	return c.timed("CRDs and RBAC", fmt.Sprintf("%d objects", len(objects)), func() error {
		return apply(ctx, c.client, objects)
	})
}

func (c *Cluster) startWorkloadCluster(ctx context.Context) error {
	detail := fmt.Sprintf("%s in namespace %s", WorkloadClusterName, Namespace)
	return c.timed("workload cluster", detail, func() error {
		return c.WorkloadCluster(ctx, Namespace, WorkloadClusterName)
	})
}

// startOurs starts the controller and the providers.
func (c *Cluster) startOurs(ctx context.Context) error {
	for _, p := range c.ours() {
		part, err := c.newOurs(ctx, p)
		if err != nil {
			return err
		}
		detail := fmt.Sprintf("as service account %s", p.account)
		if err := c.startPart(ctx, part, detail); err != nil {
			return err
		}
	}
	return nil
}

// timed runs a step and tells Options.Ready of it.
func (c *Cluster) timed(name, detail string, step func() error) error {
	begin := c.options.Clock.Now()
	if err := step(); err != nil {
		return err
	}
	c.ready(PartReady{Name: name, After: c.options.Clock.Since(begin), Detail: detail})
	return nil
}

func (c *Cluster) ready(r PartReady) {
	c.mu.Lock() // one at a time, also for parts that start together
	defer c.mu.Unlock()
	c.options.Ready(r)
}

func (c *Cluster) newPart(name string, launch func(context.Context) (running, error)) *Part {
	return &Part{name: name, launch: launch, failed: c.endLife}
}

// newProcess returns a part that is a process of its own.
func (c *Cluster) newProcess(o process.Options) *Part {
	return c.newPart(o.Name, func(ctx context.Context) (running, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("it was not ready within %s", readyTimeout))
		defer cancel()
		started, err := process.Start(ctx, o)
		if err != nil {
			return nil, err // not a nil *Process in an interface
		}
		return started, nil
	})
}

func (c *Cluster) startPart(ctx context.Context, part *Part, detail string) error {
	return c.timed(part.Name(), detail, func() error {
		if err := part.Start(ctx); err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.started = append(c.started, part)
		return nil
	})
}

// Logs returns the directory with the log of each part.
func (c *Cluster) Logs() string { return c.files.logs() }

// Dir returns the directory of the Cluster.
func (c *Cluster) Dir() string { return c.options.Dir }

// Kubeconfig returns the path of an administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.kubeconfig }

// Config returns an administrator's client configuration, without a limit of
// its own on requests. The caller may change it.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client returns an administrator's client. Its scheme knows Kubernetes' own
// kinds, CustomResourceDefinitions, Cluster API's core kinds and ours.
func (c *Cluster) Client() client.WithWatch { return c.client }

// AuditLog returns the path of the API server's audit log, one JSON object a
// line. It is empty for an existing cluster.
func (c *Cluster) AuditLog() string {
	if c.options.Kubeconfig != "" {
		return ""
	}
	return c.files.auditLog()
}

// ServiceAccountKubeconfig returns the path of a kubeconfig with the credentials
// of a service account that exists. The token is renewed until the Cluster stops.
func (c *Cluster) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	return c.accounts.issue(ctx, c.life, types.NamespacedName{Namespace: namespace, Name: name})
}

// ServiceAccountConfig returns a client configuration with the credentials that
// ServiceAccountKubeconfig names.
func (c *Cluster) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	kubeconfig, err := c.ServiceAccountKubeconfig(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of a service account: %w", err)
	}
	config.QPS = -1
	return config, nil
}

// Part returns the part of that name, nil if it does not run here.
func (c *Cluster) Part(name string) *Part {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.started, func(p *Part) bool { return p.Name() == name })
	if i < 0 {
		return nil
	}
	return c.started[i]
}

// Context returns a context that ends when Done is closed; its cause is then Err
// or, after Stop, an error that says so.
func (c *Cluster) Context() context.Context { return c.life }

// Done returns a channel that is closed when a part has ended by itself or the
// Cluster is stopped.
func (c *Cluster) Done() <-chan struct{} { return c.life.Done() }

// errStopped is why a Cluster ends in good order.
var errStopped = errors.New("stopped")

// Err returns nil while the Cluster runs and after Stop, and a *PartError once
// a part has ended by itself.
func (c *Cluster) Err() error {
	if cause := context.Cause(c.life); cause != nil && !errors.Is(cause, errStopped) {
		return cause
	}
	return nil
}

// Stop stops the parts in the reverse of their order and gives the directory
// back. Stopping again does nothing.
func (c *Cluster) Stop() error {
	c.stopping.Do(func() {
		c.endLife(errStopped)
		if c.accounts != nil {
			c.accounts.renewals.Wait()
		}
		c.mu.Lock()
		parts := slices.Clone(c.started)
		c.mu.Unlock()
		var errs []error
		for _, part := range slices.Backward(parts) {
			errs = append(errs, part.Stop())
		}
		c.ports.release()
		c.unlock()
		c.stopErr = errors.Join(errs...)
	})
	return c.stopErr
}
