// SPDX-License-Identifier: Apache-2.0

// Package up_test runs bin/fivespot as a person does.
package up_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulesv1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/process/processtest"
)

// withTimeout returns a context that ends with the test or after patience.
func withTimeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestUpForAProviderAuthor(t *testing.T) {
	first := fivespot(t, t.TempDir(), "up", "--without-capi")
	lines := first.up()

	var parts []string
	for _, line := range lines {
		if part, _, found := strings.Cut(line, " ready in "); found {
			parts = append(parts, strings.TrimSpace(part))
		}
	}
	want := []string{
		"control plane", "CRDs and RBAC", "controller", "ManualSchedule provider",
		"TimeBasedSpotSchedule provider", "CapitalMarketsSchedule provider",
	}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Errorf("parts in the order in which they were ready (-want +got):\n%s", diff)
	}

	t.Run("everything listens on loopback only", func(t *testing.T) {
		children := processtest.Children(t, first.pid())
		if len(children) != 5 {
			t.Errorf("it has the children %v, want devplane, controller and three providers", children)
		}
		for name, pid := range children {
			addresses := processtest.Listening(t, pid)
			if len(addresses) == 0 {
				t.Errorf("%s seems to listen nowhere", name)
			}
			for _, address := range addresses {
				if !address.IsLoopback() {
					t.Errorf("%s listens on %s", name, address)
				}
			}
		}
	})

	t.Run("what it keeps is for its owner only", func(t *testing.T) {
		for name, want := range map[string]os.FileMode{
			"":           0o700,
			"kubeconfig": 0o600,
			"credentials/5spot-system/5spot-controller.kubeconfig":         0o600,
			"credentials/5spot-system/5spot-controller.token":              0o600,
			"credentials/5spot-system/manual-schedule-provider.kubeconfig": 0o600,
			"logs/devplane.log":                 0o600,
			"logs/controller.log":               0o600,
			"logs/manual-schedule-provider.log": 0o600,
		} {
			info, err := os.Stat(filepath.Join(first.dir, name))
			if err != nil {
				t.Error(err)
				continue
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("the mode of DIR/%s is %o, want %o", name, got, want)
			}
		}
	})

	t.Run("the provider answers under its own account", func(t *testing.T) {
		c, ctx := first.client(), withTimeout(t)
		schedule := &schedulesv1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "toggle"}}
		schedule.Spec.Enabled = true
		if err := c.Create(ctx, schedule); err != nil {
			t.Fatal(err)
		}
		if err := await.Object(ctx, c, schedule, func() error { return isActive(schedule) }); err != nil {
			t.Fatal(err)
		}
		const user = "system:serviceaccount:5spot-system:manual-schedule-provider"
		awaitRequest(t, first.dir, func(e devplane.AuditEvent) bool {
			return e.User == user && e.Verb == "patch" && e.Subresource == "status"
		})
	})

	t.Run("a second start on the same directory is refused", func(t *testing.T) {
		second := fivespot(t, first.dir, "up", "--without-capi")
		status, _ := second.awaitEnd()
		if status == 0 {
			t.Error("it ended with status 0")
		}
		want := fmt.Sprintf("fivespot: %s is in use by process %d: stop that one first or choose another directory\n", first.dir, first.pid())
		if got := second.stderr.String(); got != want {
			t.Errorf("it said %q, want %q", got, want)
		}
	})

	t.Run("Ctrl-C stops every part, the last one first", func(t *testing.T) {
		parts := takeHold(t, first)
		first.signal(syscall.SIGINT)
		parts["controller"].AwaitEnd()
		for _, kind := range []string{"ManualSchedule", "TimeBasedSpotSchedule", "CapitalMarketsSchedule"} {
			if !parts["provider --kinds="+kind].Ended() {
				t.Errorf("the controller was stopped before the provider of %s", kind)
			}
		}
		parts["devplane"].AwaitEnd()
		if !parts["controller"].Ended() {
			t.Error("the control plane was stopped before the controller")
		}
		if status, _ := first.awaitEnd(); status != 0 {
			t.Errorf("it ended with status %d", status)
		}
	})
}

func isActive(schedule *schedulesv1.ManualSchedule) error {
	if schedule.Status.Active == nil || !*schedule.Status.Active {
		return errors.New("its status.active is not true")
	}
	return nil
}

// awaitRequest waits until the audit log has such a request: its line can come a
// moment after what the request brought about.
func awaitRequest(t *testing.T, dir string, is func(devplane.AuditEvent) bool) {
	t.Helper()
	log := devplane.OpenAuditLog(filepath.Join(dir, "logs", "audit.log"))
	defer log.Close()
	if _, err := log.Await(withTimeout(t), is); err != nil {
		t.Error(err)
	}
}

// takeHold takes hold of each part of a run, by the name of its program.
func takeHold(t *testing.T, r *run) map[string]*processtest.Hold {
	t.Helper()
	parts := map[string]*processtest.Hold{}
	for name, pid := range processtest.Children(t, r.pid()) {
		parts[name] = processtest.Take(t, pid)
	}
	if len(parts) == 0 {
		t.Fatal("it has no children")
	}
	return parts
}

func awaitEnds(parts map[string]*processtest.Hold) {
	for _, part := range parts {
		part.AwaitEnd()
	}
}

func TestStoppedWhileItStartsItLeavesNothing(t *testing.T) {
	r := fivespot(t, t.TempDir(), "up")
	r.awaitLine("control plane")
	parts := takeHold(t, r)
	r.signal(syscall.SIGTERM)
	if status, _ := r.awaitEnd(); status != 0 {
		t.Errorf("it ended with status %d:\n%s", status, r.stderr.String())
	}
	awaitEnds(parts)
}

func TestPartThatDiesEndsTheRest(t *testing.T) {
	for program, part := range map[string]string{
		"devplane":                        "control plane",
		"controller":                      "controller",
		"provider --kinds=ManualSchedule": "ManualSchedule provider",
	} {
		t.Run(part, func(t *testing.T) {
			r := fivespot(t, t.TempDir(), "up", "--without-capi")
			r.up()
			parts := takeHold(t, r)
			victim, err := os.FindProcess(processtest.Children(t, r.pid())[program])
			if err != nil {
				t.Fatal(err)
			}
			if err := victim.Kill(); err != nil {
				t.Fatal(err)
			}

			if status, _ := r.awaitEnd(); status == 0 {
				t.Error("it ended with status 0")
			}
			for _, want := range []string{"\nThe end of ", "/logs/", fmt.Sprintf("fivespot: the %s has ended", part), "signal: killed"} {
				if !strings.Contains(r.stderr.String(), want) {
					t.Errorf("it did not say %q but:\n%s", want, r.stderr.String())
				}
			}
			awaitEnds(parts)
		})
	}
}

func TestKilledAndStartedAgainItGoesOn(t *testing.T) {
	r := fivespot(t, t.TempDir(), "up", "--without-capi")
	r.up()
	note := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "note"},
		Data:       map[string]string{"remember": "this"},
	}
	if err := r.client().Create(withTimeout(t), note); err != nil {
		t.Fatal(err)
	}

	parts := takeHold(t, r)
	r.signal(syscall.SIGKILL)
	r.awaitEnd()
	awaitEnds(parts)

	again := fivespot(t, r.dir, "up", "--without-capi")
	again.up()
	var found corev1.ConfigMap
	if err := again.client().Get(withTimeout(t), client.ObjectKeyFromObject(note), &found); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(note.Data, found.Data); diff != "" {
		t.Errorf("data after the restart (-want +got):\n%s", diff)
	}
	if found.UID != note.UID {
		t.Errorf("the object has UID %s, want %s", found.UID, note.UID)
	}
	again.stop()
}

func TestOurPartsAgainstAnExistingCluster(t *testing.T) {
	// The existing cluster has nothing of ours running.
	existing := fivespot(t, t.TempDir(), "up", "--without-capi", "--without-controller", "--without-providers")
	existing.up()

	ours := fivespot(t, t.TempDir(), "up", "--kubeconfig="+filepath.Join(existing.dir, "kubeconfig"))
	ours.up()
	if children := processtest.Children(t, ours.pid()); len(children) != 4 || children["controller"] == 0 {
		t.Errorf("it runs %v, want the controller and three providers", children)
	}
	c, ctx := existing.client(), withTimeout(t)
	schedule := &schedulesv1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "toggle"}}
	schedule.Spec.Enabled = true
	if err := c.Create(ctx, schedule); err != nil {
		t.Fatal(err)
	}
	if err := await.Object(ctx, c, schedule, func() error { return isActive(schedule) }); err != nil {
		t.Fatal(err)
	}
	ours.stop()
	existing.stop()
}
