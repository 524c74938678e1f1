// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// secretState says how much is known of a Secret.
type secretState int

const (
	secretLoading secretState = iota
	secretAbsent
	secretPresent
)

// entry is one way to a cluster: a key of a Secret and the connection that the
// kubeconfig there leads to. The management cluster's has no Secret. Its fields
// are guarded by the mutex of Clusters.
type entry struct {
	key    secretKey
	owners map[types.NamespacedName]struct{}
	// idleSince is when the last owner left; zero while there are any.
	idleSince time.Time
	// stop ends the watch of the Secret and the connection; nil until open.
	stop context.CancelFunc
	ctx  context.Context

	secret secretState
	// content is the kubeconfig that connection or fault was made of.
	content []byte
	// connection leads to the cluster; nil while there is a fault or nothing is known.
	connection *connection
	// fault is what is wrong with the Secret, since an instant.
	fault *fault
	since time.Time
	// told is the fault that was last counted and logged: by the first owner who
	// met it, for a missing Secret is none to an owner who does without.
	told *fault
}

func (e *entry) isManagement() bool { return e.key == secretKey{} }

func (e *entry) ownerNames() []types.NamespacedName { return slices.Collect(maps.Keys(e.owners)) }

// join adds an owner to the entry of a key, which is made if need be; nil when
// there are too many.
func (c *Clusters) join(owner types.NamespacedName, key secretKey) *entry {
	e := c.entries[key]
	if e == nil {
		e = &entry{key: key, owners: map[types.NamespacedName]struct{}{}}
		if !e.isManagement() && !c.makeRoom() {
			return nil
		}
		c.entries[key] = e
		c.open(e)
	}
	e.owners[owner] = struct{}{}
	e.idleSince = time.Time{}
	c.idle.Clear(key)
	return e
}

// leave takes an owner off an entry, which is closed after a while without any.
func (c *Clusters) leave(owner types.NamespacedName, e *entry) {
	if e == nil {
		return
	}
	delete(e.owners, owner)
	if len(e.owners) == 0 {
		e.idleSince = c.options.Clock.Now()
		c.idle.Set(e.key, e.idleSince.Add(c.options.IdlePeriod))
		c.roomMade = true
	}
}

// wakeWaiting wakes the owners for whom there was no room once there is some. It
// is called without the mutex.
func (c *Clusters) wakeWaiting() {
	c.mu.Lock()
	var waiting []types.NamespacedName
	if c.roomMade {
		for owner, u := range c.owners {
			if u.entry == nil {
				waiting = append(waiting, owner)
			}
		}
	}
	c.roomMade = false
	c.mu.Unlock()
	c.wake(waiting)
}

// makeRoom closes the entry that has been idle longest if there are too many,
// and reports whether there is room for one more.
func (c *Clusters) makeRoom() bool {
	var oldest *entry
	n := 0
	for _, e := range c.entries {
		if e.isManagement() {
			continue
		}
		n++
		if len(e.owners) == 0 && (oldest == nil || e.idleSince.Before(oldest.idleSince)) {
			oldest = e
		}
	}
	if n < c.options.Limit {
		return true
	}
	if oldest == nil {
		return false
	}
	c.close(oldest)
	return true
}

// closeIdle closes an entry that still has no owner.
func (c *Clusters) closeIdle(key secretKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil && len(e.owners) == 0 {
		c.close(e)
	}
}

func (c *Clusters) close(e *entry) {
	delete(c.entries, e.key)
	c.idle.Clear(e.key)
	if e.stop != nil {
		e.stop()
	}
	e.connection = nil
}

// open has an entry follow its Secret, once Clusters run.
func (c *Clusters) open(e *entry) {
	if c.ctx == nil || e.stop != nil {
		return
	}
	e.ctx, e.stop = context.WithCancel(c.ctx)
	if e.isManagement() {
		c.connectManagement(e)
		return
	}
	ctx, f := e.ctx, c.followSecret(e)
	c.running.Go(func() { f.run(ctx, "kubeconfig Secret") })
}

// followSecret returns what keeps an entry's Secret in view: that one object, so
// that no other Secret of the namespace is ever held.
func (c *Clusters) followSecret(e *entry) *follower {
	secrets := c.secrets.CoreV1().Secrets(e.key.Namespace)
	this := fields.OneTermEqualSelector(metav1.ObjectNameField, e.key.Name).String()
	return &follower{
		list: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = this
			if options.ResourceVersion == "0" {
				// Out of a cache that is behind, a Secret that was just made would be missing,
				// and the management cluster would stand in.
				options.ResourceVersion = ""
			}
			return secrets.List(ctx, options)
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = this
			return secrets.Watch(ctx, options)
		},
		kind:  &corev1.Secret{},
		store: &secretStore{changed: func(secret *corev1.Secret) { c.secretChanged(e, secret) }},
		classify: func(err error) *fault {
			return unreadable(err, e.key)
		},
		health:  func(why *fault) { c.secretUnreadable(e, why) },
		longest: c.patience.watch,
	}
}

// secretUnreadable remembers why the Secret was never seen, once for all the tries
// that end alike. Once it was seen, the last view of it stays, whatever happens to
// the management cluster's API server.
func (c *Clusters) secretUnreadable(e *entry, why *fault) {
	c.mu.Lock()
	if why == nil || e.secret != secretLoading || c.entries[e.key] != e || e.fault != nil && e.fault.message == why.message {
		c.mu.Unlock()
		return
	}
	c.setFault(e, why)
	owners := e.ownerNames()
	c.mu.Unlock()
	c.wake(owners)
}

// secretChanged takes in what the Secret now says; nil when there is none.
func (c *Clusters) secretChanged(e *entry, secret *corev1.Secret) {
	c.mu.Lock()
	if c.entries[e.key] != e || !c.takeIn(e, secret) {
		c.mu.Unlock()
		return
	}
	owners := e.ownerNames()
	c.mu.Unlock()
	c.wake(owners)
}

// takeIn makes an entry's connection fit its Secret, and reports whether anything changed.
func (c *Clusters) takeIn(e *entry, secret *corev1.Secret) bool {
	if secret == nil {
		if e.secret == secretAbsent {
			return false
		}
		e.secret, e.content = secretAbsent, nil
		c.setFault(e, &fault{reason: ReasonKubeconfigNotFound, label: "secret_not_found", message: "There is no Secret " + e.key.Name +
			" in namespace " + e.key.Namespace})
		return true
	}
	content, has := secret.Data[e.key.key]
	if e.secret == secretPresent && has == (e.content != nil) && bytes.Equal(content, e.content) {
		return false
	}
	e.secret, e.content = secretPresent, nil
	if !has {
		c.setFault(e, &fault{reason: ReasonKubeconfigNotFound, label: "secret_missing_key", message: "There is no " + e.key.String()})
		return true
	}
	e.content = append([]byte{}, content...)
	config, why := parseKubeconfig(content, e.key)
	if why != nil {
		c.setFault(e, why)
		return true
	}
	c.connect(e, config)
	return true
}

// setFault leaves an entry without a connection and says why.
func (c *Clusters) setFault(e *entry, why *fault) {
	if e.connection != nil {
		e.connection.stop()
		e.connection = nil
	}
	if e.fault == nil || e.fault.reason != why.reason {
		e.since = c.options.Clock.Now()
	}
	e.fault = why
}

func (c *Clusters) wake(owners []types.NamespacedName) {
	for _, owner := range owners {
		c.options.Wake(owner)
	}
}
