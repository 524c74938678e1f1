// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Condition types of a ScheduledMachine.
const (
	// ConditionReady is true when the machine is where the schedule wants it to be.
	ConditionReady = "Ready"
	// ConditionScheduled says whether the schedule wants the machine up.
	ConditionScheduled = "Scheduled"
	// ConditionMachineReady says whether the machine runs and its node is ready.
	ConditionMachineReady = "MachineReady"
	// ConditionReferencesValid says whether the embedded specs are acceptable.
	ConditionReferencesValid = "ReferencesValid"
	// ConditionAllFieldsActedOn is there, and False, while the spec sets fields
	// that are accepted and not acted on yet.
	ConditionAllFieldsActedOn = "AllFieldsActedOn"
	// ConditionUpToDate says whether the Machine that is up was made from the spec
	// as it is now. It is there while there is a Machine.
	ConditionUpToDate = "UpToDate"
	// ConditionScheduleFlapping is True while the schedule changes its verdict too often.
	ConditionScheduleFlapping = "ScheduleFlapping"
	// ConditionChildClusterReachable says whether the workload cluster can be
	// reached. It is there while something on the node is to be looked after.
	ConditionChildClusterReachable = "ChildClusterReachable"
	// ConditionNodeTainted says whether spec.nodeTaints are on the node. It is there
	// while there are any.
	ConditionNodeTainted = "NodeTainted"
	// ConditionSpotScheduleResolved says whether the schedule object gave a verdict.
	ConditionSpotScheduleResolved = "SpotScheduleResolved"
)

// Reasons of conditions and events of a ScheduledMachine. Those of
// SpotScheduleResolved are in the package contract.
const (
	ReasonReconcileSucceeded    = "ReconcileSucceeded"
	ReasonReconcileFailed       = "ReconcileFailed"
	ReasonAwaitingSchedule      = "AwaitingSchedule"
	ReasonScheduleActive        = "ScheduleActive"
	ReasonScheduleInactive      = "ScheduleInactive"
	ReasonScheduleDisabled      = "ScheduleDisabled"
	ReasonKillSwitchActivated   = "KillSwitchActivated"
	ReasonGracePeriodActive     = "GracePeriodActive"
	ReasonMachineCreated        = "MachineCreated"
	ReasonMachineReady          = "MachineReady"
	ReasonMachineDeleted        = "MachineDeleted"
	ReasonMachineCreationFailed = "MachineCreationFailed"
	ReasonMachineDeletionFailed = "MachineDeletionFailed"
	ReasonMachineFailed         = "MachineFailed"
	ReasonNoMachine             = "NoMachine"
	ReasonProvisioning          = "Provisioning"
	ReasonNodeNotReady          = "NodeNotReady"
	ReasonDeleting              = "Deleting"
	ReasonReferencesValid       = "ReferencesValid"
	ReasonReferencesInvalid     = "ReferencesInvalid"
	ReasonFieldsNotActedOn      = "FieldsNotActedOn"
	ReasonNodeDraining          = "NodeDraining"
	ReasonNodeDrainFailed       = "NodeDrainFailed"
	ReasonNodeDrained           = "NodeDrained"
	ReasonNodeDeletionFailed    = "NodeDeletionFailed"

	ReasonActivationLead           = "ActivationLead"
	ReasonActivationQueued         = "ActivationQueued"
	ReasonMinimumStateDuration     = "MinimumStateDuration"
	ReasonProvisioningTimedOut     = "ProvisioningTimedOut"
	ReasonMachineReplaced          = "MachineReplaced"
	ReasonFinalizerCleanupTimedOut = "FinalizerCleanupTimedOut"
	ReasonUpToDate                 = "UpToDate"
	ReasonOutOfDate                = "OutOfDate"
	ReasonVerdictChangesOften      = "VerdictChangesOften"
	ReasonVerdictSteady            = "VerdictSteady"
	ReasonNoNodeYet                = "NoNodeYet"
	ReasonPatchFailed              = "PatchFailed"
	ReasonTaintOwnershipConflict   = "TaintOwnershipConflict"
	ReasonApplied                  = "Applied"
	ReasonReachable                = "Reachable"
)

// Names that 5-Spot puts on objects.
const (
	// Finalizer keeps a ScheduledMachine until its machine is gone.
	Finalizer = "5spot.finos.org/scheduledmachine"
	// LabelScheduledMachine carries the name of the ScheduledMachine on every object it owns.
	LabelScheduledMachine = "5spot.finos.org/scheduled-machine"
	// AnnotationSpecHash carries, on a bootstrap object, an infrastructure object or a
	// Machine, the hash of the part of the spec that it was made from.
	AnnotationSpecHash = "5spot.finos.org/spec-hash"
	// AnnotationAppliedTaints carries, on a Node, the key and effect of each taint
	// that 5-Spot has put on it, as a JSON list.
	AnnotationAppliedTaints = "5spot.finos.org/applied-taints"
	// FieldManager is the field manager of the ScheduledMachine controller.
	FieldManager = "5spot-controller"
	// FieldManagerNodeTaints is its field manager for the taints of Nodes.
	FieldManagerNodeTaints = "5spot-controller-node-taints"
)
