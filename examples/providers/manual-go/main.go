// SPDX-License-Identifier: Apache-2.0

// Command manual-go is a schedule provider as somebody outside this project
// writes one: a kind of its own, DeskOverride, that follows a toggle.
package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/sdk"
)

// DeskOverride is active while spec.enabled is true.
type DeskOverride struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Enabled bool `json:"enabled"`
	} `json:"spec"`
	Status contract.Status `json:"status,omitempty"`
}

// ScheduleStatus returns the part of the status that 5-Spot reads.
func (o *DeskOverride) ScheduleStatus() *contract.Status { return &o.Status }

var kind = schema.GroupVersionKind{Group: contract.Group, Version: "v1alpha1", Kind: "DeskOverride"}

// Evaluate decides what an override says at an instant.
func Evaluate(_ context.Context, o *DeskOverride, _ time.Time) (sdk.Decision, error) {
	return sdk.Decision{Active: o.Spec.Enabled, Message: "toggle applied"}, nil
}

func main() { sdk.Main(sdk.New(kind, Evaluate)) }
