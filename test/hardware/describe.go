// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// describe returns an object as a person would look at it.
func describe(o client.Object) string {
	shown, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return ""
	}
	shown.SetManagedFields(nil)
	text, err := yaml.Marshal(shown)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
