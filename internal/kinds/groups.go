// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// groups is the name of the index of StoreOptions.Group.
const groups = "group"

func (f *follower[T]) groupsOf(object any) ([]string, error) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	typed, ok := object.(T)
	if !ok || f.store.options.Group == nil {
		return nil, nil
	}
	if group := f.store.options.Group(typed); group != "" {
		return []string{group}, nil
	}
	return nil, nil
}

func (f *follower[T]) hasAny(group string) bool {
	keys, err := f.informer.GetIndexer().IndexKeys(groups, group)
	return err == nil && len(keys) > 0
}

func (f *follower[T]) members(group string) []types.NamespacedName {
	objects, err := f.informer.GetIndexer().ByIndex(groups, group)
	if err != nil {
		return nil
	}
	var names []types.NamespacedName
	for _, object := range objects {
		if typed, ok := object.(T); ok {
			meta := typed.GetObjectMeta()
			names = append(names, types.NamespacedName{Namespace: meta.GetNamespace(), Name: meta.GetName()})
		}
	}
	return names
}

// groupHandlers tell of each object that joins a group or leaves it.
func (f *follower[T]) groupHandlers() cache.ResourceEventHandlerFuncs {
	move := func(was, is any) {
		before, _ := f.groupsOf(was)
		after, _ := f.groupsOf(is)
		if slices.Equal(before, after) {
			return
		}
		for _, group := range slices.Concat(before, after) {
			f.store.notifyGroup(f.kind.GroupKind, group)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(is any) { move(nil, is) },
		UpdateFunc: move,
		DeleteFunc: func(was any) { move(was, nil) },
	}
}
