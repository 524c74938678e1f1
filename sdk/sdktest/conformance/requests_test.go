// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const metricsBefore = `# HELP apiserver_request_total [STABLE] Counter of requests.
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="tides",scope="cluster",subresource="",verb="LIST",version="v1"} 4
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="tides",scope="cluster",subresource="",verb="WATCH",version="v1"} 9
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="tides",scope="resource",subresource="status",verb="PATCH",version="v1"} 1.2e+01
apiserver_request_total{code="409",group="spotschedules.5spot.finos.org",resource="tides",scope="resource",subresource="status",verb="PATCH",version="v1"} 1
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="tides",scope="namespace",subresource="",verb="LIST",version="v1"} 66
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="tides",scope="resource",subresource="",verb="LIST",version="v1"} 2
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="tides",scope="namespace",subresource="",verb="DELETE",version="v1"} 65
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="tides",scope="namespace",subresource="",verb="WATCH",version="v1"} 55
apiserver_request_total{code="200",group="spotschedules.5spot.finos.org",resource="moons",scope="cluster",subresource="",verb="LIST",version="v1"} 77
apiserver_request_total{code="200",group="",resource="tides",scope="cluster",subresource="",verb="LIST",version="v1"} 88
apiserver_request_total_created{verb="LIST"} 99
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.79e+09
`

func TestRequestsAreCountedByVerb(t *testing.T) {
	before, err := readRequests(strings.NewReader(metricsBefore), "tides")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"list": 6, "patch": 13}
	if diff := cmp.Diff(want, before.byVerb); diff != "" || before.server != 1.79e9 || before.watches != 9 {
		t.Errorf("of the server %v, with %d watches (-want +got):\n%s", before.server, before.watches, diff)
	}
	later := strings.NewReplacer("} 4\n", "} 7\n", "} 9\n", "} 30\n", "} 66\n", "} 90\n", "} 65\n", "} 88\n", `} 1.2e+01`, `} 14`).Replace(metricsBefore)
	after, err := readRequests(strings.NewReader(later), "tides")
	if err != nil {
		t.Fatal(err)
	}
	if text, count := after.since(before); text != "3 list, 2 patch, 1 list of one namespace" || count != 6 {
		t.Errorf("got %q and %d", text, count)
	}
	if text, count := before.since(before); text != "" || count != 0 {
		t.Errorf("between the same, got %q and %d", text, count)
	}
}

func TestMetricsThatDoNotCount(t *testing.T) {
	for _, metrics := range []string{"", "process_start_time_seconds 1\n", "apiserver_request_total{", "<html>"} {
		if _, err := readRequests(strings.NewReader(metrics), "tides"); err == nil {
			t.Errorf("%q counts", metrics)
		}
	}
}
