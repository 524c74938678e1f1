// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	spotschedulesv1alpha1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// patience bounds every wait for what is certain to come.
const patience = 3 * time.Minute

// Users as the audit log names them.
const (
	controllerUser = "system:serviceaccount:5spot-system:5spot-controller"
	providerUser   = "system:serviceaccount:5spot-system:manual-schedule-provider"
	ourNamespace   = "system:serviceaccount:5spot-system:"
)

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// toggle makes a ManualSchedule, or sets it.
func toggle(t testing.TB, namespace, name string, enabled bool) {
	t.Helper()
	schedule := &spotschedulesv1alpha1.ManualSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       spotschedulesv1alpha1.ManualScheduleSpec{Enabled: enabled},
	}
	err := localclustertest.Cluster(t).Client().Create(t.Context(), schedule)
	if client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() {
			if err := localclustertest.Cluster(t).Client().Delete(context.WithoutCancel(t.Context()), schedule); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		})
		return
	}
	patch(t, schedule, fmt.Sprintf(`{"spec":{"enabled":%v}}`, enabled))
}

func patch(t testing.TB, object client.Object, merge string) {
	t.Helper()
	if err := localclustertest.Cluster(t).Client().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		t.Fatal(err)
	}
}

// machine makes the example's ScheduledMachine under another name, following
// another schedule. When the test ends it is deleted and waited for.
func machine(t testing.TB, namespace, name, schedule string, changes ...func(*v1beta1.ScheduledMachine)) *v1beta1.ScheduledMachine {
	t.Helper()
	text, err := os.ReadFile("../../examples/scheduledmachine-trading-desk-rack.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sm := &v1beta1.ScheduledMachine{}
	if err := yaml.UnmarshalStrict(text, sm); err != nil {
		t.Fatal(err)
	}
	sm.Namespace, sm.Name, sm.Spec.Schedule.Name = namespace, name, schedule
	for _, change := range changes {
		change(sm)
	}
	if err := localclustertest.Cluster(t).Client().Create(t.Context(), sm); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := localclustertest.Cluster(t).Client().Delete(ctx, sm); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
		if err := await.Gone(ctx, localclustertest.Cluster(t).Client(), sm); err != nil {
			t.Error(err)
		}
	})
	return sm
}

func awaitPhase(t testing.TB, sm *v1beta1.ScheduledMachine, phase v1beta1.Phase) {
	t.Helper()
	err := await.Object(deadline(t), localclustertest.Cluster(t).Client(), sm, func() error {
		if sm.Status.Phase != phase {
			return fmt.Errorf("phase is %q, want %q: %s", sm.Status.Phase, phase, sm.Status.Message)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func awaitGone(t testing.TB, object client.Object) {
	t.Helper()
	if err := await.Gone(deadline(t), localclustertest.Cluster(t).Client(), object); err != nil {
		t.Fatal(err)
	}
}

// capiMachine returns the Cluster API Machine of a ScheduledMachine.
func capiMachine(t testing.TB, sm *v1beta1.ScheduledMachine) *clusterv1.Machine {
	t.Helper()
	found := &clusterv1.Machine{}
	if err := localclustertest.Cluster(t).Client().Get(t.Context(), client.ObjectKeyFromObject(sm), found); err != nil {
		t.Fatal(err)
	}
	return found
}

// audit returns a reader of the audit log that begins now.
func audit(t testing.TB) *devplane.AuditReader {
	t.Helper()
	reader := devplane.OpenAuditLog(localclustertest.Cluster(t).AuditLog())
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := reader.SkipToEnd(); err != nil {
		t.Fatal(err)
	}
	return reader
}

// readAudit returns what was written to the audit log since the last call. A
// line comes shortly after its answer, so this asks for something of its own
// and reads up to that.
func readAudit(t testing.TB, reader *devplane.AuditReader) []devplane.AuditEvent {
	t.Helper()
	marker := fmt.Sprintf("marker-%d", markers())
	config := localclustertest.Cluster(t).Config()
	config.UserAgent = marker
	c, err := client.New(config, client.Options{Scheme: localclustertest.Cluster(t).Client().Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	var absent v1beta1.ScheduledMachine
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: localcluster.Namespace, Name: marker}, &absent); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	events, err := reader.Await(deadline(t), func(e devplane.AuditEvent) bool { return e.UserAgent == marker })
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// markers returns a number that it has not returned before.
var markers = func() func() int {
	n := 0
	return func() int { n++; return n }
}()

// finished reports whether an event is a request's last.
func finished(e devplane.AuditEvent) bool { return e.Stage != devplane.StageResponseStarted }

var errWaiting = errors.New("not yet")
