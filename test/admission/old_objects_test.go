// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// oldNamespace holds objects that were stored before anything refused them. Of
// each ScheduledMachine there is a second one, whose name ends in toGo.
const (
	oldNamespace = "old"
	toGo         = "-to-go"
)

// An oldObject is refused today.
type oldObject struct {
	base, patch string
	// edit is a change of another field.
	edit string
	// worse is a change that brings in another fault of the same sort.
	worse string
}

// oldMachines have faults that policies refuse today, or that schemas do.
var oldMachines = map[string]oldObject{
	"foreign-groups": {
		patch: `{"spec": {"bootstrapSpec": {"apiVersion": "example.com/v1"}, "infrastructureSpec": {"apiVersion": "example.com/v1"}}}`,
		worse: `{"spec": {"bootstrapSpec": {"apiVersion": "example.org/v1"}}}`,
	},
	"reserved-labels": {
		patch: `{"spec": {"machineTemplate": {"labels": {"k8s.io/a": "b"}}, "bootstrapSpec": {"metadata": {"annotations": {"cluster.x-k8s.io/a": "b"}}}}}`,
		edit:  `{"spec": {"machineTemplate": {"labels": {"team": "rates"}}}}`,
		worse: `{"spec": {"machineTemplate": {"labels": {"k8s.io/a": "c"}}}}`,
	},
	"bad-labels": {
		patch: `{"spec": {"machineTemplate": {"labels": {"a b": "c", "d": "e f"}}}}`,
		edit:  `{"spec": {"machineTemplate": {"annotations": {"team": "rates"}}}}`,
		worse: `{"spec": {"machineTemplate": {"labels": {"g": "h i"}}}}`,
	},
	"one-kind": {
		patch: `{"spec": {"bootstrapSpec": {"apiVersion": "k0smotron.io/v1", "kind": "X"}, "infrastructureSpec": {"apiVersion": "k0smotron.io/v1", "kind": "X"}}}`,
		worse: `{"spec": {"infrastructureSpec": {"spec": {"a": "b"}}}}`,
	},
	"cluster-name": {
		patch: `{"spec": {"clusterName": "a/b"}}`,
		worse: `{"spec": {"clusterName": "a/c"}}`,
	},
	"commands": {
		patch: `{"spec": {"killIfCommands": ["", "x"]}}`,
		worse: `{"spec": {"killIfCommands": ["", "x", ""]}}`,
	},
	"taints": {
		patch: `{"spec": {"nodeTaints": [{"key": "kubernetes.io/x", "effect": "NoSchedule"}]}}`,
		worse: `{"spec": {"nodeTaints": [{"key": "kubernetes.io/y", "effect": "NoSchedule"}]}}`,
	},
	"without-an-api-version": {
		patch: `{"spec": {"bootstrapSpec": {"apiVersion": null}}}`,
		worse: `{"spec": {"bootstrapSpec": {"kind": "lower"}}}`,
	},
	"without-an-infrastructure": {
		patch: `{"spec": {"infrastructureSpec": null}}`,
		edit:  `{"metadata": {"labels": {"team": "rates"}}}`,
		worse: `{"spec": {"infrastructureSpec": {"kind": ""}}}`,
	},
}

// oldSchedules have faults that the policies refuse today.
var oldSchedules = map[string]oldObject{
	"nights": {
		base: smallestTimeBased,
		patch: `{"spec": {"timezone": "Local", "daysOfWeek": ["friday"], "hoursOfDay": ["24"], "exceptDates": ["2026-02-30"],
			"windows": [{"days": ["Mon"], "start": "09:00", "end": "10:00"}],
			"once": [{"start": "2026-06-15T03:15:00.5Z", "end": "2026-06-15T04:15:00Z"}]}}`,
		edit:  `{"spec": {"enabled": false}}`,
		worse: `{"spec": {"exceptDates": ["2026-02-30", "2026-02-31"]}}`,
	},
	"market": {
		base: smallestMarkets,
		patch: `{"spec": {"exchange": "XXXX", "timezone": "Local", "holidays": ["2026-02-30"], "earlyCloses": [{"date": "2026-02-30", "closeHour": 12}],
			"lateOpens": [{"date": "2026-02-30", "open": "10:00"}], "specialSessions": [{"date": "2026-02-30", "open": "10:00", "close": "11:00"}],
			"sessions": [{"daysOfWeek": ["Mon"], "hoursOfDay": ["24"]}, {"open": "09:00", "close": "10:00"},
				{"daysOfWeek": ["mon"], "open": "17:00", "close": "18:00", "openDayOffset": -1}]}}`,
		edit:  `{"spec": {"holidays": ["2026-02-30", "2026-12-25"], "leadTime": "5m"}}`,
		worse: `{"spec": {"exchange": "XXXY"}}`,
	},
}

// oldObjects is a Setup that stores them.
func oldObjects(p *devplane.Plane) error {
	ctx, cancel := context.WithTimeout(context.Background(), devplanetest.Patience)
	defer cancel()
	c, err := client.New(p.Config(), client.Options{})
	if err != nil {
		return err
	}
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: oldNamespace}}); err != nil {
		return err
	}
	for name, old := range oldMachines {
		old.base = smallestMachine
		if err := errors.Join(store(ctx, c, name, old), store(ctx, c, name+toGo, old)); err != nil {
			return err
		}
	}
	for name, old := range oldSchedules {
		if err := store(ctx, c, name, old); err != nil {
			return err
		}
	}
	return nil
}

func store(ctx context.Context, c client.Client, name string, old oldObject) error {
	object, err := merged(old.base, old.patch)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	object.SetNamespace(oldNamespace)
	object.SetName(name)
	object.SetFinalizers([]string{v1beta1.Finalizer})
	if err := c.Create(ctx, object); err != nil {
		return fmt.Errorf("storing %s: %w", name, err)
	}
	return nil
}
