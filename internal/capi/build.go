// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// Bootstrap returns the bootstrap object of a ScheduledMachine.
func Bootstrap(sm *v1beta1.ScheduledMachine) (*unstructured.Unstructured, error) {
	return embedded(sm, &sm.Spec.BootstrapSpec)
}

// Infrastructure returns the infrastructure object of a ScheduledMachine.
func Infrastructure(sm *v1beta1.ScheduledMachine) (*unstructured.Unstructured, error) {
	return embedded(sm, &sm.Spec.InfrastructureSpec)
}

// Machine returns the Machine of a ScheduledMachine at a version of the Machine
// API. kubernetes is the Kubernetes version of its node; "" if nobody tells.
func Machine(sm *v1beta1.ScheduledMachine, version, kubernetes string) (*unstructured.Unstructured, error) {
	drain, err := time.ParseDuration(string(sm.Spec.NodeDrainTimeout))
	if err != nil {
		return nil, fmt.Errorf("reading spec.nodeDrainTimeout: %w", err)
	}
	metadata := owned(sm, true)
	if template := sm.Spec.MachineTemplate; template != nil {
		decorate(&metadata, template.Labels, template.Annotations)
	}
	hash, err := MachineHash(sm)
	if err != nil {
		return nil, err
	}
	metav1.SetMetaDataAnnotation(&metadata, v1beta1.AnnotationSpecHash, hash)
	switch version {
	case VersionV1Beta2:
		return toUnstructured(machineV1Beta2(sm, metadata, drain, kubernetes))
	case VersionV1Beta1:
		return toUnstructured(machineV1Beta1(sm, metadata, drain, kubernetes))
	}
	return nil, fmt.Errorf("Machine API version %q is not known", version)
}

func embedded(sm *v1beta1.ScheduledMachine, object *v1beta1.EmbeddedObject) (*unstructured.Unstructured, error) {
	var spec map[string]any
	if err := json.Unmarshal(object.Spec.Raw, &spec); err != nil {
		return nil, fmt.Errorf("reading the spec of %s: %w", object.Kind, err)
	}
	metadata := owned(sm, false)
	if object.Metadata != nil {
		decorate(&metadata, object.Metadata.Labels, object.Metadata.Annotations)
	}
	built, err := toUnstructured(&metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: object.APIVersion, Kind: object.Kind},
		ObjectMeta: metadata,
	})
	if err != nil {
		return nil, err
	}
	built.Object["spec"] = spec
	hash, err := SpecHash(object)
	if err != nil {
		return nil, err
	}
	metadata.Annotations = built.GetAnnotations()
	metav1.SetMetaDataAnnotation(&metadata, v1beta1.AnnotationSpecHash, hash)
	built.SetAnnotations(metadata.Annotations)
	return built, nil
}

// SpecHash returns a hash of an embedded spec, metadata included: it tells
// whether an object was made from the spec as it is now.
func SpecHash(object *v1beta1.EmbeddedObject) (string, error) {
	var spec any
	if err := json.Unmarshal(object.Spec.Raw, &spec); err != nil {
		return "", fmt.Errorf("reading the spec of %s: %w", object.Kind, err)
	}
	return hashOf(map[string]any{
		"apiVersion": object.APIVersion, "kind": object.Kind, "metadata": object.Metadata, "spec": spec,
	})
}

// MachineHash returns a hash of what a Machine is made from beside the embedded
// specs: the machine template and the version that the spec asks for. Timeouts
// are not part of it, since they are changed on the Machine as it is.
func MachineHash(sm *v1beta1.ScheduledMachine) (string, error) {
	template := v1beta1.MachineTemplate{}
	if sm.Spec.MachineTemplate != nil {
		template = *sm.Spec.MachineTemplate
	}
	return hashOf(map[string]any{
		"labels": orEmpty(template.Labels), "annotations": orEmpty(template.Annotations), "version": sm.Spec.Version,
	})
}

// orEmpty makes no difference between a map that is empty and one that is not there.
func orEmpty(keys map[string]string) map[string]string {
	if keys == nil {
		return map[string]string{}
	}
	return keys
}

func hashOf(fields map[string]any) (string, error) {
	text, err := json.Marshal(fields) // keys are sorted
	if err != nil {
		return "", fmt.Errorf("encoding a spec: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// owned returns the metadata that every object of a ScheduledMachine has. Of
// the three only the Machine is controlled by it: Cluster API makes the Machine
// the controller of the other two, and an object has one controller.
func owned(sm *v1beta1.ScheduledMachine, controller bool) metav1.ObjectMeta {
	owner := metav1.NewControllerRef(sm, v1beta1.GroupVersion.WithKind("ScheduledMachine"))
	if !controller {
		owner.Controller, owner.BlockOwnerDeletion = nil, nil
	}
	return metav1.ObjectMeta{
		Namespace: sm.Namespace,
		Name:      sm.Name,
		Labels: map[string]string{
			v1beta1.LabelScheduledMachine:  labelValue(sm.Name),
			clusterv1.ClusterNameLabel:     sm.Spec.ClusterName,
			"app.kubernetes.io/name":       "5spot",
			"app.kubernetes.io/managed-by": "5spot-controller",
		},
		OwnerReferences: []metav1.OwnerReference{*owner},
	}
}

// decorate adds a user's labels and annotations; ours win.
func decorate(metadata *metav1.ObjectMeta, labels, annotations map[string]string) {
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, metadata.Labels)
	metadata.Labels = all
	metadata.Annotations = maps.Clone(annotations)
}

func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("building %T: %w", object, err)
	}
	unstructured.RemoveNestedField(fields, "status")
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	return &unstructured.Unstructured{Object: fields}, nil
}
