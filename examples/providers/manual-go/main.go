// SPDX-License-Identifier: Apache-2.0

// Command manual-go is the guide's provider of ManualSchedule on the sdk, as
// somebody outside this project writes it.
package main

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/sdk"
)

// ManualSchedule is active while spec.enabled is true.
type ManualSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Enabled *bool `json:"enabled"`
	} `json:"spec"`
	Status contract.Status `json:"status,omitempty"`
}

// ScheduleStatus returns the part of the status that 5-Spot reads.
func (s *ManualSchedule) ScheduleStatus() *contract.Status { return &s.Status }

var kind = schema.GroupVersionKind{Group: contract.Group, Version: "v1alpha1", Kind: "ManualSchedule"}

// Evaluate decides what a schedule says at an instant.
func Evaluate(_ context.Context, s *ManualSchedule, _ time.Time) (sdk.Decision, error) {
	if s.Spec.Enabled == nil {
		return sdk.Decision{}, sdk.InvalidSpec(errors.New("spec.enabled is missing: set it to true or to false"))
	}
	return sdk.Decision{Active: *s.Spec.Enabled, Message: "manual toggle applied"}, nil
}

func main() { sdk.Main(sdk.New(kind, Evaluate)) }
