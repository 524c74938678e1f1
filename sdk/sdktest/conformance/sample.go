// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// sample is what a manifest gives.
type sample struct {
	// option is the option that the manifest came by.
	option string
	// object is the one of the kind, and others are to be there before it.
	object *unstructured.Unstructured
	others []*unstructured.Unstructured
}

// spec returns the object's spec; an empty one if it has none.
func (s *sample) spec() any {
	if spec, ok := s.object.Object["spec"]; ok {
		return spec
	}
	return map[string]any{}
}

// disagrees reports whether two samples need the same further object in different
// states, so that both cannot be as they are at the same time in one namespace.
func (s *sample) disagrees(other *sample) bool {
	for _, one := range s.others {
		for _, another := range other.others {
			if keyOf(one) == keyOf(another) && !reflect.DeepEqual(one.Object, another.Object) {
				return true
			}
		}
	}
	return false
}

// keyOf names an object within a namespace.
func keyOf(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s", object.GroupVersionKind().GroupKind(), object.GetName())
}

// samples are those that the options give; nil where they do not.
type samples struct{ on, off, invalid *sample }

// checkGroup returns an *OptionError for a sample that is not of the group.
func (s *samples) checkGroup(group string) error {
	for _, one := range []*sample{s.on, s.off, s.invalid} {
		if one != nil && one.object.GroupVersionKind().Group != group {
			return &OptionError{Option: one.option, Problem: fmt.Sprintf(
				"the apiVersion of the manifest is %s; the kind is of the group %s", one.object.GetAPIVersion(), group)}
		}
	}
	return nil
}

// apiVersion returns that of the first sample; empty if there is none.
func (s *samples) apiVersion() string {
	for _, one := range []*sample{s.on, s.off, s.invalid} {
		if one != nil {
			return one.object.GetAPIVersion()
		}
	}
	return ""
}

func readSamples(o *Options) (*samples, error) {
	var all samples
	for _, entry := range []struct {
		option   string
		manifest []byte
		into     **sample
	}{
		{"On", o.On, &all.on},
		{"Off", o.Off, &all.off},
		{"Invalid", o.Invalid, &all.invalid},
	} {
		if len(entry.manifest) == 0 {
			continue
		}
		read, err := readSample(entry.option, entry.manifest, o.Kind)
		if err != nil {
			return nil, err
		}
		*entry.into = read
	}
	return &all, nil
}

// readSample reads a manifest, which holds exactly one object of the kind.
func readSample(option string, manifest []byte, kind string) (*sample, error) {
	read := &sample{option: option}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF) && read.object == nil:
			return nil, &OptionError{Option: option, Problem: "the manifest holds no " + kind}
		case errors.Is(err, io.EOF):
			return read, nil
		case err != nil:
			return nil, &OptionError{Option: option, Problem: fmt.Sprintf("the manifest cannot be read: %v", err)}
		case len(object.Object) == 0: // an empty document
		case object.GetKind() != kind:
			read.others = append(read.others, object)
		case read.object != nil:
			return nil, &OptionError{Option: option, Problem: "the manifest holds more than one " + kind}
		default:
			read.object = object
		}
	}
}
