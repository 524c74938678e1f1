// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ScheduledMachine is a Cluster API machine that exists while its schedule is
// active and does not exist while it is not.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=scheduledmachines,singular=scheduledmachine,shortName=sm,scope=Namespaced
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=boolean,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="InSchedule",type=boolean,JSONPath=`.status.inSchedule`
// +kubebuilder:printcolumn:name="Enabled",type=boolean,JSONPath=`.spec.enabled`
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule.kind`
// +kubebuilder:printcolumn:name="KillSwitch",type=boolean,JSONPath=`.spec.killSwitch`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ScheduledMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants: which machine, and which schedule it follows.
	// +required
	Spec ScheduledMachineSpec `json:"spec"`

	// status is what the controller last saw and decided.
	// +optional
	Status ScheduledMachineStatus `json:"status,omitempty"`
}

// ScheduledMachineList is a list of ScheduledMachine objects.
//
// +kubebuilder:object:root=true
type ScheduledMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ScheduledMachine `json:"items"`
}

// ScheduledMachineSpec says which machine to run and which schedule it follows.
// Precedence: killSwitch over enabled=false over the schedule's verdict.
type ScheduledMachineSpec struct {
	// schedule names the object that says when the machine runs. It lives in
	// the same namespace as this object.
	// +required
	Schedule ScheduleReference `json:"schedule"`

	// enabled set to false shuts the machine down gracefully and keeps it down,
	// whatever the schedule says.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// clusterName is the Cluster API cluster that the machine joins. The
	// Cluster object lives in the same namespace as this object. It cannot be changed.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot be changed: make another ScheduledMachine for the other cluster"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*$`
	ClusterName string `json:"clusterName"`

	// version is the machine's Kubernetes version, for example v1.37.2. Absent: that
	// of the cluster's control plane when the machine comes up, if it tells one.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-+.0-9A-Za-z_]*)$`
	Version string `json:"version,omitempty"`

	// bootstrapSpec is the Cluster API bootstrap object to create, for example a KubeadmConfig.
	// +required
	BootstrapSpec EmbeddedObject `json:"bootstrapSpec"`

	// infrastructureSpec is the Cluster API infrastructure object to create, for example a DevMachine.
	// +required
	InfrastructureSpec EmbeddedObject `json:"infrastructureSpec"`

	// machineTemplate adds labels and annotations to the Cluster API Machine.
	// +optional
	// +nullable
	MachineTemplate *MachineTemplate `json:"machineTemplate,omitempty"`

	// priority orders machines that wait to be worked on: higher goes first.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	Priority *int32 `json:"priority,omitempty"`

	// gracefulShutdownTimeout bounds the whole shutdown, from the deletion of
	// the Machine until it is gone: a whole number followed by s, m or h, at most
	// 24h. When it is over Cluster API is told not to wait for the node any longer.
	// +optional
	// +kubebuilder:default="5m"
	GracefulShutdownTimeout Timeout `json:"gracefulShutdownTimeout,omitempty"`

	// nodeDrainTimeout bounds the drain of the machine's node: a whole number
	// followed by s, m or h, at most 24h. 0s sets no bound of its own;
	// gracefulShutdownTimeout bounds the drain all the same.
	// +optional
	// +kubebuilder:default="5m"
	NodeDrainTimeout Timeout `json:"nodeDrainTimeout,omitempty"`

	// provisioningTimeout bounds the time from the creation of the Machine until
	// its node is ready: a whole number followed by s, m or h, at most 24h; 0s sets
	// no bound. A Machine that is not up by then is replaced, after a pause that
	// grows with each one that fails.
	// +optional
	// +kubebuilder:default="30m"
	ProvisioningTimeout Timeout `json:"provisioningTimeout,omitempty"`

	// minimumStateDuration keeps the machine up, or down, at least that long after
	// its schedule changed it: a whole number followed by s, m or h, at most 24h.
	// A change of the schedule in between is followed once the time is over, if it
	// still stands. killSwitch and enabled=false do not wait. Absent: no such time.
	// +optional
	MinimumStateDuration Timeout `json:"minimumStateDuration,omitempty"`

	// activationLead brings the machine up that long before its schedule says it
	// becomes active (status.nextTransitionTime of the schedule object), so that it
	// is ready at that instant: a whole number followed by s, m or h, at most 24h.
	// It never takes a machine down earlier. Absent: no lead.
	// +optional
	ActivationLead Timeout `json:"activationLead,omitempty"`

	// killSwitch takes the machine down at once, without draining its node, and
	// keeps it down until the switch is cleared.
	// +optional
	// +kubebuilder:default=false
	KillSwitch bool `json:"killSwitch,omitempty"`

	// nodeTaints are put on the machine's node once it is ready, and taken off it
	// when they leave this list. A taint of the same key and effect that somebody
	// else has put on the node is left alone and reported.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:XValidation:rule="!self.key.matches('^(5spot\\\\.finos\\\\.org|kubernetes\\\\.io|node\\\\.kubernetes\\\\.io|node-role\\\\.kubernetes\\\\.io)/')",message="the prefixes 5spot.finos.org/, kubernetes.io/, node.kubernetes.io/ and node-role.kubernetes.io/ are reserved",fieldPath=".key"
	NodeTaints []NodeTaint `json:"nodeTaints,omitempty"`

	// killIfCommands are commands whose start on the node asks for the machine
	// to be taken away. Accepted and validated; not acted on yet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	KillIfCommands []string `json:"killIfCommands,omitempty"`

	// kubeconfigSecretRef names the Secret with the workload cluster's kubeconfig.
	// Default: the Secret <clusterName>-kubeconfig or, where there is none, the
	// management cluster itself. A Secret that is named here and cannot be used is
	// an error, never a reason to look elsewhere.
	// +optional
	KubeconfigSecretRef *KubeconfigSecretReference `json:"kubeconfigSecretRef,omitempty"`

	// kata delivers a Kata Containers configuration to the node. Accepted and
	// validated; not acted on yet.
	// +optional
	Kata *KataConfig `json:"kata,omitempty"`
}

// Timeout is a whole number of seconds (s), minutes (m) or hours (h), at most 24h.
// ---
// The rule stands aside for a text that the pattern refuses, and its digits fit
// an integer, so that a user sees one complaint for one fault.
//
// +kubebuilder:validation:MaxLength=19
// +kubebuilder:validation:Pattern=`^[0-9]+[smh]$`
// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+[smh]$') || int(self.substring(0, size(self) - 1)) <= (self.endsWith('s') ? 86400 : (self.endsWith('m') ? 1440 : 24))",message="must be at most 24h"
type Timeout string

// ScheduleReference names a schedule object in the ScheduledMachine's own namespace.
type ScheduleReference struct {
	// apiVersion is spotschedules.5spot.finos.org/<version>. The object is found
	// by group and kind: a version that is not served is no error while another is.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^spotschedules\.5spot\.finos\.org/[A-Za-z0-9][A-Za-z0-9.-]*$`
	// +kubebuilder:validation:XValidation:rule="self.startsWith('spotschedules.5spot.finos.org/')",message="a schedule is a kind of the API group spotschedules.5spot.finos.org"
	APIVersion string `json:"apiVersion"`

	// kind is the kind of the schedule object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Kind string `json:"kind"`

	// name is the name of the schedule object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// EmbeddedObject is a Cluster API object that the controller creates when the
// machine comes up. Its name and namespace are the ScheduledMachine's.
type EmbeddedObject struct {
	// apiVersion is <group>/<version>. Which groups are allowed is configuration of the controller.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9][A-Za-z0-9.-]*$`
	APIVersion string `json:"apiVersion"`

	// kind is the kind of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Kind string `json:"kind"`

	// metadata adds labels and annotations to the object.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Metadata *EmbeddedMetadata `json:"metadata,omitempty"`

	// spec is handed to the object's own controller as it is.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Spec runtime.RawExtension `json:"spec"`
}

// EmbeddedMetadata is the part of an object's metadata that a user may set.
//
// +kubebuilder:validation:XValidation:rule="!has(self.name)",message="must not be set: the object takes the name of its ScheduledMachine",fieldPath=".name"
// +kubebuilder:validation:XValidation:rule="!has(self.namespace)",message="must not be set: the object lives in the namespace of its ScheduledMachine",fieldPath=".namespace"
type EmbeddedMetadata struct {
	// labels of the object. Prefixes of Kubernetes, Cluster API and 5-Spot are reserved.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the object. Prefixes of Kubernetes, Cluster API and 5-Spot are reserved.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// name must not be set; declared so that it can be refused by name.
	// +optional
	Name string `json:"name,omitempty"`

	// namespace must not be set; declared so that it can be refused by name.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// MachineTemplate adds metadata to the Cluster API Machine.
type MachineTemplate struct {
	// labels of the Machine. Prefixes of Kubernetes, Cluster API and 5-Spot are reserved.
	// +optional
	// +kubebuilder:default={}
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the Machine. Prefixes of Kubernetes, Cluster API and 5-Spot are reserved.
	// +optional
	// +kubebuilder:default={}
	Annotations map[string]string `json:"annotations,omitempty"`
}

// TaintEffect says what a taint does to pods that do not tolerate it.
//
// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
type TaintEffect string

// NodeTaint is a taint for the machine's node.
type NodeTaint struct {
	// key is [prefix/]name: the prefix a DNS subdomain, the name 1 to 63
	// letters, digits, '-' and '.', beginning and ending with a letter or digit.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`

	// value is empty or up to 63 letters, digits, '-' and '.', beginning and
	// ending with a letter or digit.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?)?$`
	Value string `json:"value,omitempty"`

	// effect is NoSchedule, PreferNoSchedule or NoExecute.
	// +required
	Effect TaintEffect `json:"effect"`
}

// KubeconfigSecretReference names a key of a Secret in the ScheduledMachine's own namespace.
type KubeconfigSecretReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`

	// key of the Secret that holds the kubeconfig.
	// +optional
	// +kubebuilder:default=value
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	Key string `json:"key,omitempty"`
}

// KataConfig names a Kata Containers configuration on the workload cluster.
type KataConfig struct {
	// kind of the object that holds the configuration.
	// +required
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	Kind string `json:"kind"`

	// name of the object that holds the configuration.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`

	// namespace of the object that holds the configuration.
	// +optional
	// +kubebuilder:default="5spot-system"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`

	// key of the object that holds the configuration.
	// +optional
	// +kubebuilder:default="kata-containers.toml"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	Key string `json:"key,omitempty"`

	// restartService is the systemd unit to restart once the file is in place.
	// +optional
	// +kubebuilder:default="k0sworker.service"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9@._][A-Za-z0-9@._-]*\.service$`
	RestartService string `json:"restartService,omitempty"`
}
