// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects are objects of one kind on which decisions depend: [ConfigMaps],
// [Secrets], or a kind of your own from [ObjectsOf]. A provider declares them
// with [WithReads], and Evaluate reads one by [Objects.Get]:
//
//	table, err := sdk.ConfigMaps.Get(ctx, s.Spec.ConfigMapName)
//	if err != nil {
//		return sdk.Decision{}, err
//	}
//
// From then on the schedule is evaluated again when that object is edited,
// deleted or created, for as long as Evaluate goes on to read it.
type Objects[T any] struct {
	resource schema.GroupVersionResource
	names    []string
}

// Kinds of objects that every cluster has.
var (
	// ConfigMaps are the ConfigMaps of a schedule's namespace.
	ConfigMaps = ObjectsOf[corev1.ConfigMap](corev1.SchemeGroupVersion.WithResource("configmaps"))
	// Secrets are the Secrets of a schedule's namespace. Prefer them narrowed by
	// [Objects.Named]: without it the account needs the right to read every
	// Secret of the namespaces in which there are schedules.
	Secrets = ObjectsOf[corev1.Secret](corev1.SchemeGroupVersion.WithResource("secrets"))
)

// ObjectsOf returns the objects of a namespaced resource, for example
// {Group: "tides.example.com", Version: "v1", Resource: "tidetables"}, whose
// JSON decodes into a T. Neither a scheme nor generated code is needed.
func ObjectsOf[T any](resource schema.GroupVersionResource) Objects[T] {
	return Objects[T]{resource: resource}
}

// Named returns the objects of these names only, of which there has to be one at
// least. The account of the provider then needs no right on others, which
// [Provider.Rules] shows.
func (o Objects[T]) Named(names ...string) Objects[T] {
	o.names = append([]string{}, names...)
	return o
}

// Get returns a copy of the object of that name in the namespace of the
// schedule; there is no way to read another namespace. The ctx is the one that
// Evaluate was given. It waits for nothing: what the provider knows comes from a
// watch on this one object. Where it is asked for the first time, the call of
// Evaluate is void, whatever it returns, and is repeated as soon as the API
// server has answered.
//
// An error is meant to be returned from Evaluate as it is. It is one of:
//
//   - [NotReady] for [ReasonObjectNotFound], of which
//     k8s.io/apimachinery/pkg/api/errors.IsNotFound is true, when there is none;
//   - NotReady for [ReasonObjectUnreadable] when the account may not read it, the
//     API server does not serve its kind, or it does not decode into a T;
//   - [InvalidSpec] when the name cannot be that of an object.
func (o Objects[T]) Get(ctx context.Context, name string) (*T, error) {
	if problems := content.IsPathSegmentName(name); name == "" || len(problems) > 0 {
		return nil, InvalidSpec(fmt.Errorf("%q is not the name of a %s", name, o.kind()))
	}
	e := evaluationOf(ctx)
	if e == nil {
		return nil, errors.New("there are no objects to read in this context; pass on the one that Evaluate was given")
	}
	object, err := e.read(o.declaration(), name) //nolint:contextcheck // an object is followed for longer than one call lasts
	if err != nil {
		return nil, err
	}
	into := new(T)
	if err := decodeInto(object.Object, into); err != nil {
		return nil, unreadable(o.declaration(), name, undecodable(o.resource, err))
	}
	return into, nil
}

// kind returns the name of the kind, for people.
func (o Objects[T]) kind() string { return reflect.TypeFor[T]().Name() }

func (o Objects[T]) declaration() declaration {
	return declaration{resource: o.resource, kind: o.kind(), goType: reflect.TypeFor[T](), names: o.names}
}

// Readable is what [WithReads] takes: an [Objects] of any type.
type Readable interface {
	declaration() declaration
}

// declaration is an Objects without its type.
type declaration struct {
	resource schema.GroupVersionResource
	kind     string
	goType   reflect.Type
	// names are those that may be read; nil means all.
	names []string
}

// covers reports whether what may be read by d includes the object.
func (d declaration) covers(resource schema.GroupVersionResource, name string) bool {
	return d.resource == resource && (d.names == nil || slices.Contains(d.names, name))
}

func (d declaration) check() error {
	if d.names != nil && len(d.names) == 0 {
		return fmt.Errorf("WithReads: %s.Named is called without a name", d.resource.Resource)
	}
	if d.resource.Version == "" || d.resource.Resource == "" {
		return fmt.Errorf("WithReads: the resource of %s needs a version and a name, and is %q in version %q",
			d.kind, d.resource.Resource, d.resource.Version)
	}
	return nil
}
