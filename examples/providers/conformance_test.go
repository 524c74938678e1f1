// SPDX-License-Identifier: Apache-2.0

package providers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

func TestManualSchedulePassesTheKitEachWay(t *testing.T) {
	t.Parallel() // its subtests run one after the other
	for _, e := range manual {
		t.Run(e.dir, func(t *testing.T) {
			e.install(t)
			o := e.options(t)
			o.Kind = "ManualSchedule"
			o.On, o.Off, o.Invalid = read(t, "manual/samples/on.yaml"), read(t, "manual/samples/off.yaml"), read(t, "manual/samples/invalid.yaml")
			passes(t, o)
		})
	}
}

func TestQueueDepthSchedulePassesTheKit(t *testing.T) {
	t.Parallel()
	// As deep as the path says: /12 has twelve jobs.
	broker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"messages": %s}`, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	t.Cleanup(broker.Close)
	at := func(depth string) []byte {
		sample := string(read(t, "queue-depth/samples/local.yaml"))
		return []byte(strings.Replace(sample, "http://127.0.0.1:8000/depth.json", broker.URL+"/"+depth, 1))
	}
	queueDepth.install(t)
	o := queueDepth.options(t)
	o.Kind = "QueueDepthSchedule"
	o.On, o.Off, o.Invalid = at("12"), at("0"), at("%zz")
	passes(t, o)
}

// options start the example, and say how the kit is to look at it. The bounds of
// what must come are wide, as these tests share two cores; the wait for what must
// not come is as short as shows a poll.
func (e example) options(t *testing.T) conformance.Options {
	t.Helper()
	running := e.start(t)
	return conformance.Options{
		Config:         localclustertest.Cluster(t).Config(),
		ServiceAccount: types.NamespacedName{Namespace: e.namespace, Name: e.account},
		Restart: func(context.Context) error {
			if err := running.Stop(); err != nil {
				return err
			}
			running = e.start(t)
			return nil
		},
		ReactWithin: 4 * time.Second,
		IdleFor:     30 * time.Second,
		Strict:      true,
	}
}

// passes checks that every check passes, and that none was skipped but the one of a
// time that these kinds do not know.
func passes(t *testing.T, o conformance.Options) {
	t.Helper()
	for _, result := range conformance.Test(t, o).Results {
		if result.Outcome == conformance.Skipped && result.ID != "next-transition-time" {
			t.Errorf("%s was skipped: %s", result.ID, result.Message)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
