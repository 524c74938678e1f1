// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Object is what a store keeps: anything with object metadata.
type Object interface{ metav1.ObjectMetaAccessor }

// State says how much a store knows of an object.
type State int

const (
	// Loading: not known yet. A subscriber is told when it is.
	Loading State = iota
	// NotInstalled: the kind is not installed.
	NotInstalled
	// Unreadable: the kind is installed and its objects could not be listed even once.
	Unreadable
	// Absent: the kind is installed and the object does not exist.
	Absent
	// Present: the object exists.
	Present
)

// Result is what a store knows of an object.
type Result[T Object] struct {
	// State says which of the other fields hold something.
	State State
	// Object is the object, when Present.
	Object T
	// Kind is the kind, unless it is Loading or NotInstalled.
	Kind Kind
	// Err says why the objects cannot be listed, when Unreadable.
	Err error
}

// StoreOptions says what a store keeps.
type StoreOptions[T Object] struct {
	// Registry knows the installed kinds.
	Registry *Registry
	// Client lists and watches the objects.
	Client dynamic.Interface
	// Select says which installed kinds to follow without being asked. Nil: none.
	Select func(Kind) bool
	// Version picks the version to read a kind at. Nil: Kind.Preferred.
	Version func(Kind) string
	// Reduce turns an object into what is kept of it.
	Reduce func(*unstructured.Unstructured) T
	// Same reports whether a change of what is kept is none to a subscriber.
	// Nil: every change is one.
	Same func(before, after T) bool
	// Group names the group that an object belongs to, see HasAny; "" for none.
	// Nil: there are no groups.
	Group func(T) string
	// Log receives what an operator may want to know.
	Log logr.Logger
}

// Store holds the objects of kinds that come and go.
type Store[T Object] struct {
	options StoreOptions[T]

	changes   chan struct{} // holds a token while changed is not empty
	mu        sync.Mutex
	changed   map[schema.GroupKind]bool
	wanted    map[schema.GroupKind]bool
	followers map[schema.GroupKind]*follower[T]
	expected  map[objectKey]string

	onObject []func(schema.GroupKind, types.NamespacedName)
	onKind   []func(schema.GroupKind)
	onGroup  []func(schema.GroupKind, string)
}

type objectKey struct {
	kind schema.GroupKind
	name types.NamespacedName
}

// NewStore returns a store that follows kinds once it is started.
func NewStore[T Object](options StoreOptions[T]) *Store[T] {
	if options.Version == nil {
		options.Version = Kind.Preferred
	}
	if options.Select == nil {
		options.Select = func(Kind) bool { return false }
	}
	s := &Store[T]{
		options:   options,
		changes:   make(chan struct{}, 1),
		changed:   map[schema.GroupKind]bool{},
		wanted:    map[schema.GroupKind]bool{},
		followers: map[schema.GroupKind]*follower[T]{},
		expected:  map[objectKey]string{},
	}
	options.Registry.Subscribe(s.markChanged)
	return s
}

// Subscribe asks for a call whenever an object changes, and whenever what is
// known of a whole kind changes; the empty kind stands for all of them. The
// functions must not block. Call it before Start.
func (s *Store[T]) Subscribe(object func(schema.GroupKind, types.NamespacedName), kind func(schema.GroupKind)) {
	s.onObject = append(s.onObject, object)
	s.onKind = append(s.onKind, kind)
}

// SubscribeGroups asks for a call whenever an object joins a group or leaves it.
// The function must not block. Call it before Start.
func (s *Store[T]) SubscribeGroups(group func(kind schema.GroupKind, group string)) {
	s.onGroup = append(s.onGroup, group)
}

// NeedLeaderElection tells the manager to run the store on standbys too, so
// that they take over warm.
func (s *Store[T]) NeedLeaderElection() bool { return false }

// Start follows kinds until the context ends, and returns when every informer
// has stopped.
func (s *Store[T]) Start(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changes:
		}
		for _, kind := range s.takeChanged() {
			s.follow(ctx, kind, &running)
			s.notifyKind(kind)
		}
	}
}

// Want follows a kind from now on, once it is installed.
func (s *Store[T]) Want(kind schema.GroupKind) {
	s.mu.Lock()
	had := s.wanted[kind]
	s.wanted[kind] = true
	s.mu.Unlock()
	if !had {
		s.markChanged(kind)
	}
}

// Get returns what is known of an object, without asking the API server.
func (s *Store[T]) Get(kind schema.GroupKind, name types.NamespacedName) Result[T] {
	found, state, err := s.options.Registry.Lookup(kind)
	if state != Present {
		return Result[T]{State: state, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.followers[kind]
	if current == nil || !current.follows(found) || s.behind(objectKey{kind, name}, current.view()) {
		return Result[T]{State: Loading, Kind: found}
	}
	result := current.view().get(name)
	result.Kind = found
	return result
}

// HasAny reports whether an object of a kind belongs to a group, as far as the
// store has seen; false when it has seen none of the kind.
func (s *Store[T]) HasAny(kind schema.GroupKind, group string) bool {
	current := s.view(kind)
	return current != nil && current.hasAny(group)
}

// Members returns the names of the objects of a kind that belong to a group, as far
// as the store has seen, in no order.
func (s *Store[T]) Members(kind schema.GroupKind, group string) []types.NamespacedName {
	current := s.view(kind)
	if current == nil {
		return nil
	}
	return current.members(group)
}

// view returns the follower to read a kind from; nil if there is none.
func (s *Store[T]) view(kind schema.GroupKind) *follower[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if current := s.followers[kind]; current != nil {
		return current.view()
	}
	return nil
}

// Expect makes Get answer Loading for an object until the store has seen the
// given resource version, which a write has just returned. So a writer reads
// its own writes.
func (s *Store[T]) Expect(kind schema.GroupKind, name types.NamespacedName, resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected[objectKey{kind, name}] = resourceVersion
}

// behind reports whether the store has yet to see an expected write; an
// expectation that is met is forgotten.
func (s *Store[T]) behind(key objectKey, current *follower[T]) bool {
	version, ok := s.expected[key]
	if !ok {
		return false
	}
	if current.hasSeen(version) {
		delete(s.expected, key)
		return false
	}
	return true
}

// markChanged has Start look at a kind.
func (s *Store[T]) markChanged(kind schema.GroupKind) {
	s.mu.Lock()
	s.changed[kind] = true
	s.mu.Unlock()
	select {
	case s.changes <- struct{}{}:
	default: // Start has yet to take what is there
	}
}

func (s *Store[T]) takeChanged() []schema.GroupKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := slices.Collect(maps.Keys(s.changed))
	clear(s.changed)
	return changed
}

// follow makes the informer of a kind match what is installed and wanted.
func (s *Store[T]) follow(ctx context.Context, kind schema.GroupKind, running *sync.WaitGroup) {
	found, state, _ := s.options.Registry.Lookup(kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := state == Present && (s.wanted[kind] || s.options.Select(found))
	current := s.followers[kind]
	if !wanted || current != nil && !current.follows(found) {
		current.end()
		delete(s.followers, kind)
		current = nil
	}
	current.stopUnserved(found)
	if !wanted || current != nil && current.version == s.options.Version(found) {
		return
	}
	next, err := newFollower(s, found)
	if err != nil {
		s.options.Log.Error(err, "cannot follow a kind", "kind", kind.String())
		return
	}
	ctx, next.stop = context.WithCancel(ctx) //nolint:gosec // end and stopUnserved call it
	next.before = replaced(current)
	s.followers[kind] = next
	running.Go(func() { next.run(ctx) })
}

// replaced returns the follower whose view stays until another version of the
// kind has been read: current, or the one that current has yet to replace; nil if
// there is no view.
func replaced[T Object](current *follower[T]) *follower[T] {
	if current == nil {
		return nil
	}
	last := current.view()
	if last != current {
		current.before = nil
		current.stop()
	}
	if !last.synced.Load() {
		last.stop()
		return nil
	}
	return last
}

// takeOver has a follower that has synced take the place of the one before it.
func (s *Store[T]) takeOver(f *follower[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.synced.Store(true)
	f.before.end()
	f.before = nil
}

func (s *Store[T]) notifyObject(kind schema.GroupKind, name types.NamespacedName) {
	for _, changed := range s.onObject {
		changed(kind, name)
	}
}

func (s *Store[T]) notifyGroup(kind schema.GroupKind, group string) {
	for _, changed := range s.onGroup {
		changed(kind, group)
	}
}

func (s *Store[T]) notifyKind(kind schema.GroupKind) {
	for _, changed := range s.onKind {
		changed(kind)
	}
}
