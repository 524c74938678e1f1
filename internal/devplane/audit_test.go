// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// audited returns what the audit log says about what the user did in act.
func audited(t *testing.T, user string, act func()) []devplane.AuditEvent {
	t.Helper()
	p := devplanetest.Plane(t)
	r := devplane.OpenAuditLog(p.AuditLog())
	defer r.Close()
	if err := r.SkipToEnd(); err != nil {
		t.Fatal(err)
	}
	act()
	events, err := p.AuditUntilNow(devplanetest.Context(t), r)
	if err != nil {
		t.Fatal(err)
	}
	var theirs []devplane.AuditEvent
	for _, event := range events {
		if event.User == user {
			theirs = append(theirs, event)
		}
	}
	return theirs
}

// The rest differs from run to run.
var ignoreOfEvent = cmpopts.IgnoreFields(devplane.AuditEvent{}, "AuditID", "RequestReceived", "StageTimestamp")

func TestAuditLogHasWhoDidWhat(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	user := "audited-" + namespace
	config := devplanetest.Plane(t).ImpersonatedConfig(user, "system:masters")
	config.UserAgent = "the-agent"
	c := devplanetest.ClientFor(t, config)

	got := audited(t, user, func() {
		object := configMap(namespace, "seen")
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "absent"}, object); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	})
	// Clients also look up what is served; those paths are no resource.
	got = withoutDiscovery(got)

	path := "/api/v1/namespaces/" + namespace + "/configmaps"
	event := devplane.AuditEvent{
		Stage: devplane.StageResponseComplete, User: user, Impersonator: "kubernetes-admin", UserAgent: "the-agent",
		Version: "v1", Resource: "configmaps", Namespace: namespace,
	}
	created, absent := event, event
	created.Verb, created.URI, created.Name, created.Code = "create", path, "seen", 201
	absent.Verb, absent.URI, absent.Name, absent.Code = "get", path+"/absent", "absent", 404
	if diff := cmp.Diff([]devplane.AuditEvent{created, absent}, got, ignoreOfEvent); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, event := range got {
		if event.AuditID == "" || event.RequestReceived.IsZero() || event.StageTimestamp.Before(event.RequestReceived) {
			t.Errorf("it has no identity or no possible times: %+v", event)
		}
	}
}

func withoutDiscovery(events []devplane.AuditEvent) []devplane.AuditEvent {
	var rest []devplane.AuditEvent
	for _, event := range events {
		if event.Resource != "" {
			rest = append(rest, event)
		}
	}
	return rest
}

func TestAuditLogTellsOfAWatchWhenItStartsAndWhenItEnds(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	c := serviceAccountWatcher(t, namespace)
	user := "system:serviceaccount:" + namespace + ":watcher"

	stages := func(events []devplane.AuditEvent) (stages []string) {
		for _, event := range events {
			if event.Verb == "watch" {
				stages = append(stages, event.Stage)
			}
		}
		return stages
	}
	end := func() {}
	started := audited(t, user, func() {
		watch, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(namespace))
		if err != nil {
			t.Fatal(err)
		}
		end = watch.Stop
	})
	if diff := cmp.Diff([]string{devplane.StageResponseStarted}, stages(started)); diff != "" {
		t.Errorf("while it runs (-want +got):\n%s", diff)
	}

	r := devplane.OpenAuditLog(devplanetest.Plane(t).AuditLog())
	defer r.Close()
	end()
	_, err := r.Await(devplanetest.Context(t), func(e devplane.AuditEvent) bool {
		return e.User == user && e.Verb == "watch" && e.Stage == devplane.StageResponseComplete
	})
	if err != nil {
		t.Errorf("after its end: %v", err)
	}
}

func serviceAccountWatcher(t *testing.T, namespace string) client.WithWatch {
	t.Helper()
	serviceAccount(t, namespace, "watcher")
	grant(t, namespace, "watcher", ruleFor("configmaps", "list", "watch"))
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), namespace, "watcher")
	if err != nil {
		t.Fatal(err)
	}
	c := devplanetest.ClientFor(t, config)
	awaitAllowed(t, func() error {
		return c.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(namespace))
	})
	return c
}

func TestControllersOfTheControlPlaneAreUsersOfTheirOwn(t *testing.T) {
	r := devplane.OpenAuditLog(devplanetest.Plane(t).AuditLog())
	defer r.Close()
	want := map[string]bool{
		"system:serviceaccount:kube-system:generic-garbage-collector": true,
		"system:serviceaccount:kube-system:root-ca-cert-publisher":    true,
		"system:kube-controller-manager":                              true,
	}
	_, err := r.Await(devplanetest.Context(t), func(e devplane.AuditEvent) bool {
		delete(want, e.User)
		return len(want) == 0
	})
	if err != nil {
		t.Errorf("%v; not seen: %v", err, want)
	}
}

func TestAuditLogHoldsNoSecret(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	secret := &corev1.Secret{StringData: map[string]string{"password": "correct horse battery staple"}}
	secret.Namespace, secret.Name = namespace, "secret"
	if err := devplanetest.Client(t).Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	audited(t, "", func() {}) // the line is there now
	content, err := os.ReadFile(devplanetest.Plane(t).AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	for _, needle := range []string{"correct horse", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ"} {
		if bytes.Contains(content, []byte(needle)) {
			t.Errorf("the audit log contains %q", needle)
		}
	}
}

func TestAuditReaderFollowsRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	write := func(name string, verbs ...string) {
		t.Helper()
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, verb := range verbs {
			if _, err := file.WriteString(verb); err != nil {
				t.Fatal(err)
			}
		}
	}
	rotate := func(to string) {
		t.Helper()
		if err := os.Rename(path, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(verb string) string { return `{"verb":"` + verb + `"}` + "\n" }
	r := devplane.OpenAuditLog(path)
	defer r.Close()
	read := func(want ...string) {
		t.Helper()
		events, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, event := range events {
			got = append(got, event.Verb)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}

	read()
	write("audit-2026-01-01T00-00-00.000.log", line("one"))
	write("audit.log", line("two"), `{"verb":`)
	read("one", "two")
	write("audit.log", `"three"}`+"\n")
	read("three")
	write("audit.log", line("four"))
	rotate("audit-2026-01-02T00-00-00.000.log")
	write("audit.log", line("five"))
	rotate("audit-2026-01-03T00-00-00.000.log")
	write("audit.log", line("six"))
	read("four", "five", "six")
	read()

	rotate("audit-2026-01-04T00-00-00.000.log")
	if err := os.Remove(filepath.Join(dir, "audit-2026-01-04T00-00-00.000.log")); err != nil {
		t.Fatal(err)
	}
	write("audit.log", line("eight"))
	if _, err := r.Read(); err == nil {
		t.Error("files that are gone before they were read are no error")
	}
}
