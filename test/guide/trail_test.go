// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// auditTrail returns a reader of the API server's audit log that begins now.
func auditTrail(t *testing.T) *devplane.AuditReader {
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

// checkTrail checks that the provider watched and wrote, each time that there
// was something new to write, and that nothing else was asked for in its name.
func checkTrail(t *testing.T, reader *devplane.AuditReader) {
	t.Helper()
	// What the provider did is in the log before what this test does now.
	config := localclustertest.Cluster(t).Config()
	config.UserAgent = "end of " + t.Name()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.RESTClient().Get().AbsPath("/livez/ping").Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	events, err := reader.Await(deadline(t), func(e devplane.AuditEvent) bool { return e.UserAgent == config.UserAgent })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		if e.User == "system:serviceaccount:"+accountNamespace+":"+account {
			got = append(got, fmt.Sprintf("%s %s %s/%s: %d", e.Verb, e.Group, e.Resource, e.Subresource, e.Code))
		}
	}
	// A watch that goes on is there once, with its beginning.
	const write = "patch spotschedules.5spot.finos.org manualschedules/status: 200"
	want := []string{
		"watch spotschedules.5spot.finos.org manualschedules/: 200",
		write, // of a status that was not there
		write, // on
		write, // off
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the provider's requests (-want +got):\n%s", diff)
	}
}
