// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// followedForTest is what objectReads follows in a test, which says what is seen.
type followedForTest struct {
	*objectReads

	tell  map[objectRef]func(objectState)
	ended map[objectRef]context.Context
	woken []string
}

func newFollowedForTest(t *testing.T) *followedForTest {
	t.Helper()
	f := &followedForTest{tell: map[objectRef]func(objectState){}, ended: map[objectRef]context.Context{}}
	f.objectReads = newObjectReads(t.Context(),
		func(ctx context.Context, ref objectRef, tell func(objectState)) {
			if f.ended[ref] != nil && f.ended[ref].Err() == nil {
				t.Errorf("%v is followed twice", ref)
			}
			f.tell[ref], f.ended[ref] = tell, ctx
		},
		func(schedule types.NamespacedName) { f.woken = append(f.woken, schedule.Name) })
	return f
}

// wokenSince returns who was woken since the last call.
func (f *followedForTest) wokenSince() []string {
	woken := f.woken
	f.woken = nil
	slices.Sort(woken)
	return woken
}

func schedule(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "trading", Name: name}
}

func configMap(name string) objectRef {
	return objectRef{resource: ConfigMaps.resource, namespace: "trading", name: name}
}

func seen(version string) objectState {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetResourceVersion(version)
	return objectState{known: true, object: object}
}

func TestOnlyThoseWhoDependOnAnObjectAreWokenByIt(t *testing.T) {
	f := newFollowedForTest(t)
	for name, refs := range map[string][]objectRef{
		"a": {configMap("tides")}, "b": {configMap("tides"), configMap("moon")}, "c": {configMap("moon")},
	} {
		for _, ref := range refs {
			if state := f.read(schedule(name), ref); state.known {
				t.Errorf("%v is known before anybody saw it", ref)
			}
		}
		f.keep(schedule(name), refs)
	}
	tests := []struct {
		event string
		of    string
		state objectState
		want  []string
	}{
		{"first seen", "tides", seen("1"), []string{"a", "b"}},
		{"seen again", "tides", seen("1"), nil},
		{"edited", "tides", seen("2"), []string{"a", "b"}},
		{"not there", "moon", objectState{known: true}, []string{"b", "c"}},
		{"still not there", "moon", objectState{known: true}, nil},
		{"created", "moon", seen("3"), []string{"b", "c"}},
		{"forbidden", "moon", objectState{known: true, err: errors.New("forbidden")}, []string{"b", "c"}},
		{"still forbidden", "moon", objectState{known: true, err: errors.New("forbidden")}, nil},
		{"deleted", "tides", objectState{known: true}, []string{"a", "b"}},
	}
	for _, test := range tests {
		f.tell[configMap(test.of)](test.state)
		if diff := cmp.Diff(test.want, f.wokenSince()); diff != "" {
			t.Errorf("%s %s: woken (-want +got):\n%s", test.of, test.event, diff)
		}
		if got := f.read(schedule("b"), configMap(test.of)); got.revision() != test.state.revision() {
			t.Errorf("%s %s: it reads as %v", test.of, test.event, got)
		}
	}
}

func TestAnObjectIsFollowedForAsLongAsSomebodyDependsOnIt(t *testing.T) {
	f := newFollowedForTest(t)
	tides := configMap("tides")
	for _, name := range []string{"a", "b"} {
		f.read(schedule(name), tides)
		f.keep(schedule(name), []objectRef{tides})
	}
	late := f.tell[tides]
	f.keep(schedule("a"), nil)
	if f.ended[tides].Err() != nil {
		t.Error("it is let go while b depends on it")
	}
	late(seen("1"))
	if diff := cmp.Diff([]string{"b"}, f.wokenSince()); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	f.keep(schedule("b"), []objectRef{configMap("moon")}) // which it has not read
	if f.ended[tides].Err() == nil {
		t.Error("it is followed though nobody depends on it")
	}
	late(seen("2"))
	if woken := f.wokenSince(); woken != nil {
		t.Errorf("an object that was let go wakes %v", woken)
	}
	if len(f.followed)+len(f.bySchedule) > 0 {
		t.Errorf("something is kept: %v %v", f.followed, f.bySchedule)
	}

	if state := f.read(schedule("a"), tides); state.known {
		t.Errorf("it is known from before: %v", state)
	}
	late(seen("3"))
	if state := f.read(schedule("a"), tides); state.known {
		t.Error("a watch of before tells of it")
	}
}
