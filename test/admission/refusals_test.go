// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A rule has one case that passes and one that is refused, as JSON merge patches
// of a valid object.
type rule struct {
	name            string
	passes, refused string
	// updatesOnly: there is no creation that could break it.
	updatesOnly bool
}

func many(item string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func spec(format string, arguments ...any) string {
	return `{"spec": ` + fmt.Sprintf(format, arguments...) + `}`
}

func taint(key, value string) string {
	return spec(`{"nodeTaints": [{"key": %q, "value": %q, "effect": "NoSchedule"}]}`, key, value)
}

// machineRules are those that the Rust project's policy has, whoever holds them
// here, and those that came along.
var machineRules = []rule{
	{name: "clusterName is not empty", passes: spec(`{"clusterName": "trading"}`), refused: spec(`{"clusterName": ""}`)},
	{name: "clusterName is at most 63 long", passes: spec(`{"clusterName": "trading"}`), refused: spec(`{"clusterName": %q}`, strings.Repeat("a", 64))},
	{name: "clusterName is a name", passes: spec(`{"clusterName": "trading"}`), refused: spec(`{"clusterName": "a b"}`)},
	{name: "clusterName is not changed", passes: spec(`{"clusterName": "trading"}`), refused: spec(`{"clusterName": "other"}`), updatesOnly: true},

	{name: "killIfCommands are at most 100", passes: spec(`{"killIfCommands": %s}`, many(`"x"`, 100)), refused: spec(`{"killIfCommands": %s}`, many(`"x"`, 101))},
	{name: "killIfCommands are not empty", passes: spec(`{"killIfCommands": ["x"]}`), refused: spec(`{"killIfCommands": [""]}`)},
	{name: "killIfCommands are at most 256 long", passes: spec(`{"killIfCommands": [%q]}`, strings.Repeat("x", 256)), refused: spec(`{"killIfCommands": [%q]}`, strings.Repeat("x", 257))},

	{name: "gracefulShutdownTimeout is a duration", passes: spec(`{"gracefulShutdownTimeout": "90s"}`), refused: spec(`{"gracefulShutdownTimeout": "5 minutes"}`)},
	{name: "gracefulShutdownTimeout is at most 24h", passes: spec(`{"gracefulShutdownTimeout": "24h"}`), refused: spec(`{"gracefulShutdownTimeout": "25h"}`)},
	{name: "nodeDrainTimeout is a duration", passes: spec(`{"nodeDrainTimeout": "90s"}`), refused: spec(`{"nodeDrainTimeout": "1h30m"}`)},
	{name: "nodeDrainTimeout is at most 24h", passes: spec(`{"nodeDrainTimeout": "1440m"}`), refused: spec(`{"nodeDrainTimeout": "1441m"}`)},
	{name: "provisioningTimeout is a duration", passes: spec(`{"provisioningTimeout": "0s"}`), refused: spec(`{"provisioningTimeout": "soon"}`)},
	{name: "minimumStateDuration is a duration", passes: spec(`{"minimumStateDuration": "15m"}`), refused: spec(`{"minimumStateDuration": "-1m"}`)},
	{name: "activationLead is a duration", passes: spec(`{"activationLead": "10m"}`), refused: spec(`{"activationLead": "10"}`)},

	{name: "schedule is of the schedules' API group", passes: spec(`{"schedule": {"apiVersion": "spotschedules.5spot.finos.org/v2"}}`), refused: spec(`{"schedule": {"apiVersion": "apps/v1"}}`)},

	{name: "bootstrapSpec.apiVersion has a group", passes: spec(`{"bootstrapSpec": {"apiVersion": "k0smotron.io/v1beta1"}}`), refused: spec(`{"bootstrapSpec": {"apiVersion": "v1"}}`)},
	{name: "infrastructureSpec.apiVersion has a group", passes: spec(`{"infrastructureSpec": {"apiVersion": "k0smotron.io/v1beta1"}}`), refused: spec(`{"infrastructureSpec": {"apiVersion": "v1"}}`)},
	{name: "bootstrapSpec is of an allowed group", passes: spec(`{"bootstrapSpec": {"apiVersion": "k0smotron.io/v1beta1"}}`), refused: spec(`{"bootstrapSpec": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2"}}`)},
	{name: "infrastructureSpec is of an allowed group", passes: spec(`{"infrastructureSpec": {"apiVersion": "k0smotron.io/v1beta1"}}`), refused: spec(`{"infrastructureSpec": {"apiVersion": "batch/v1"}}`)},
	{name: "bootstrapSpec.kind is not empty", passes: spec(`{"bootstrapSpec": {"kind": "K0sWorkerConfig"}}`), refused: spec(`{"bootstrapSpec": {"kind": ""}}`)},
	{name: "infrastructureSpec.kind is not empty", passes: spec(`{"infrastructureSpec": {"kind": "RemoteMachine"}}`), refused: spec(`{"infrastructureSpec": {"kind": ""}}`)},
	{name: "the two kinds differ", passes: spec(`{"bootstrapSpec": {"apiVersion": "k0smotron.io/v1beta1", "kind": "K0sWorkerConfig"}, "infrastructureSpec": {"apiVersion": "k0smotron.io/v1beta1", "kind": "RemoteMachine"}}`), refused: spec(`{"bootstrapSpec": {"apiVersion": "k0smotron.io/v1beta1", "kind": "RemoteMachine"}, "infrastructureSpec": {"apiVersion": "k0smotron.io/v1beta2", "kind": "RemoteMachine"}}`)},
	{name: "bootstrapSpec.metadata has no name", passes: spec(`{"bootstrapSpec": {"metadata": {"labels": {"team": "rates"}}}}`), refused: spec(`{"bootstrapSpec": {"metadata": {"name": "x"}}}`)},
	{name: "bootstrapSpec.metadata has no namespace", passes: spec(`{"bootstrapSpec": {"metadata": {"annotations": {"note": "x y"}}}}`), refused: spec(`{"bootstrapSpec": {"metadata": {"namespace": "x"}}}`)},
	{name: "infrastructureSpec.metadata has no name", passes: spec(`{"infrastructureSpec": {"metadata": {}}}`), refused: spec(`{"infrastructureSpec": {"metadata": {"name": "x"}}}`)},
	{name: "infrastructureSpec.metadata has no namespace", passes: spec(`{"infrastructureSpec": {"metadata": {}}}`), refused: spec(`{"infrastructureSpec": {"metadata": {"namespace": "x"}}}`)},

	{name: "a label handed on has no reserved prefix", passes: spec(`{"machineTemplate": {"labels": {"node.cluster.x-k8s.io/rack": "7"}}}`), refused: spec(`{"machineTemplate": {"labels": {"cluster.x-k8s.io/cluster-name": "other", "kubernetes.io/x": ""}}}`)},
	{name: "an annotation handed on has no reserved prefix", passes: spec(`{"machineTemplate": {"annotations": {"example.com/5spot.finos.org": "x"}}}`), refused: spec(`{"machineTemplate": {"annotations": {"5spot.finos.org/spec-hash": "x"}}}`)},
	{name: "nor one of an embedded object", passes: spec(`{"infrastructureSpec": {"metadata": {"labels": {"k8s.io.example.com/x": "y"}}}}`), refused: spec(`{"bootstrapSpec": {"metadata": {"labels": {"k8s.io/x": "y"}}}, "infrastructureSpec": {"metadata": {"annotations": {"k8s.io/x": "y"}}}}`)},
	{name: "the key of a label is one", passes: spec(`{"machineTemplate": {"labels": {"Team_1": "rates"}}}`), refused: spec(`{"machineTemplate": {"labels": {"team 1": "rates"}}}`)},
	{name: "the key of an annotation is one", passes: spec(`{"machineTemplate": {"annotations": {"Example.com/A": "any text"}}}`), refused: spec(`{"bootstrapSpec": {"metadata": {"annotations": {"a/b/c": "x"}}}}`)},
	{name: "the value of a label is one", passes: spec(`{"machineTemplate": {"labels": {"team": ""}}}`), refused: spec(`{"machineTemplate": {"labels": {"team": "rates and credit"}}}`)},

	{name: "the key of a taint is one", passes: taint("example.com/desk", "rates"), refused: taint("desk_1", "")},
	{name: "the key of a taint is at most 253 long", passes: taint(strings.Repeat("p", 189)+"/"+strings.Repeat("k", 63), ""), refused: taint(strings.Repeat("p", 190)+"/"+strings.Repeat("k", 63), "")},
	{name: "the value of a taint is at most 63 long", passes: taint("desk", strings.Repeat("v", 63)), refused: taint("desk", strings.Repeat("v", 64))},
	{name: "the key of a taint has no reserved prefix 5spot.finos.org", passes: taint("example.com/x", ""), refused: taint("5spot.finos.org/x", "")},
	{name: "the key of a taint has no reserved prefix kubernetes.io", passes: taint("example.com/x", ""), refused: taint("kubernetes.io/x", "")},
	{name: "the key of a taint has no reserved prefix node.kubernetes.io", passes: taint("example.com/x", ""), refused: taint("node.kubernetes.io/x", "")},
	{name: "the key of a taint has no reserved prefix node-role.kubernetes.io", passes: taint("example.com/x", ""), refused: taint("node-role.kubernetes.io/x", "")},
	{name: "key and effect of a taint are there once", passes: spec(`{"nodeTaints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]}`), refused: spec(`{"nodeTaints": [{"key": "a", "value": "x", "effect": "NoSchedule"}, {"key": "a", "value": "y", "effect": "NoSchedule"}]}`)},
}

var timeBasedRules = []rule{
	{name: "the time zone is one", passes: spec(`{"timezone": "Europe/Berlin"}`), refused: spec(`{"timezone": "Local"}`)},
	{name: "weekdays are weekdays", passes: spec(`{"daysOfWeek": ["mon-fri, sun", " sat\u00a0-\u2003sun\u00a0"]}`), refused: spec(`{"daysOfWeek": ["mon", "mon-fry", ""]}`)},
	{name: "hours are hours", passes: spec(`{"hoursOfDay": ["9-17,22\u00a0-\u00a06", "007", "+3", "0"]}`), refused: spec(`{"hoursOfDay": ["9-24", "9–17"]}`)},
	{name: "weekdays of windows are weekdays", passes: spec(`{"windows": [{"days": ["mon-fri"], "start": "18:30", "end": "06:45"}]}`), refused: spec(`{"windows": [{"days": ["mon", "Tue"], "start": "18:30", "end": "06:45"}]}`)},
	{name: "dates exist", passes: spec(`{"exceptDates": ["2026-12-31", "2028-02-29", "2000-02-29", "2026-04-30"]}`), refused: spec(`{"exceptDates": ["2026-04-31", "2026-12-31", "2027-02-29", "2100-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32"]}`)},
	{name: "instants are of RFC 3339 with whole seconds", passes: spec(`{"once": [{"start": "2026-06-15T20:00:00Z", "end": "2026-06-15T21:00:00.000+00:00"}]}`), refused: spec(`{"once": [{"start": "2026-06-15T20:00:00.5Z", "end": "2026-06-15T21:00:00Z"}]}`)},
}

var marketsRules = []rule{
	{name: "the exchange is one", passes: spec(`{"exchange": "XNYS"}`), refused: spec(`{"exchange": "NYSE"}`)},
	{name: "the time zone is one", passes: spec(`{"timezone": "America/New_York"}`), refused: spec(`{"timezone": "Local"}`)},
	{name: "weekdays are weekdays", passes: spec(`{"sessions": [{"daysOfWeek": ["mon\u00a0-\u00a0thu,fri"], "hoursOfDay": ["9-16"]}]}`), refused: spec(`{"sessions": [{"daysOfWeek": ["mon", "Friday"], "hoursOfDay": ["9-16"]}]}`)},
	{name: "hours are hours", passes: spec(`{"sessions": [{"daysOfWeek": ["mon"], "hoursOfDay": ["22\u00a0-\u00a06"]}]}`), refused: spec(`{"sessions": [{"daysOfWeek": ["mon"], "hoursOfDay": ["9:30-16"]}]}`)},
	{name: "a session with open and close has weekdays", passes: spec(`{"sessions": [{"daysOfWeek": ["mon"], "open": "09:30", "close": "16:00"}, {"hoursOfDay": ["9"]}]}`), refused: spec(`{"sessions": [{"open": "09:30", "close": "16:00"}]}`)},
	{name: "a session lasts a day at most", passes: spec(`{"sessions": [{"daysOfWeek": ["mon"], "open": "17:00", "close": "17:00", "openDayOffset": -1}]}`), refused: spec(`{"sessions": [{"daysOfWeek": ["mon"], "open": "17:00", "close": "24:00", "openDayOffset": -1}]}`)},
	{name: "dates exist", passes: spec(`{"holidays": ["2028-02-29"], "earlyCloses": [{"date": "2026-12-24", "closeHour": 12}]}`), refused: spec(`{"holidays": ["2026-12-25", "2027-02-29"], "earlyCloses": [{"date": "2026-11-31", "closeHour": 12}], "lateOpens": [{"date": "2026-06-31", "open": "10:00"}], "specialSessions": [{"date": "2026-09-31", "open": "10:00", "close": "11:00"}]}`)},
}

// Each rule is held at each served version, for what is new and for what is
// changed, with the same words. The golden file has them.
func TestRules(t *testing.T) {
	for name, kind := range map[string]struct {
		definition, base string
		rules            []rule
	}{
		"scheduledmachine":       {"scheduledmachines.5spot.finos.org", smallestMachine, machineRules},
		"timebasedspotschedule":  {"timebasedspotschedules.spotschedules.5spot.finos.org", smallestTimeBased, timeBasedRules},
		"capitalmarketsschedule": {"capitalmarketsschedules.spotschedules.5spot.finos.org", smallestMarkets, marketsRules},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range servedVersions(t, kind.definition) {
				t.Run(version, func(t *testing.T) {
					said := refusals(t, kind.base, version, kind.rules)
					golden(t, "testdata/"+name+".golden", said)
				})
			}
		})
	}
}

// refusals tries every rule at a version and returns what was said.
func refusals(t *testing.T, base, version string, rules []rule) string {
	t.Helper()
	admin := devplanetest.Client(t)
	namespace := devplanetest.Namespace(t)
	stored := with(t, base, `{}`, namespace, version)
	if err := admin.Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	elsewhere := devplanetest.Namespace(t)
	var said strings.Builder
	for _, rule := range rules {
		if err := patched(t, admin, stored, rule.passes); err != nil {
			t.Errorf("%s: a change that keeps it: %v", rule.name, err)
		}
		changed := words(patched(t, admin, stored, rule.refused))
		if rule.updatesOnly {
			fmt.Fprintf(&said, "# %s\n%s\n", rule.name, changed)
			continue
		}
		if err := admin.Create(t.Context(), with(t, base, rule.passes, elsewhere, version), client.DryRunAll); err != nil {
			t.Errorf("%s: a new object that keeps it: %v", rule.name, err)
		}
		created := words(admin.Create(t.Context(), with(t, base, rule.refused, elsewhere, version), client.DryRunAll))
		fmt.Fprintf(&said, "# %s\n%s", rule.name, created)
		if changed != created {
			fmt.Fprintf(&said, "on a change:\n%s", changed)
		}
		said.WriteString("\n")
	}
	return said.String()
}

// A template may be there and null, and become one.
func TestNullTemplate(t *testing.T) {
	admin := devplanetest.Client(t)
	object := with(t, smallestMachine, `{}`, devplanetest.Namespace(t), "")
	if err := unstructured.SetNestedField(object.Object, nil, "spec", "machineTemplate"); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if template, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "machineTemplate"); err != nil || !found || template != nil {
		t.Fatalf("the stored template is %v (there: %t, %v), want null", template, found, err)
	}
	if err := patched(t, admin, object, spec(`{"enabled": false}`)); err != nil {
		t.Errorf("an edit of another field: %v", err)
	}
	if err := patched(t, admin, object, spec(`{"machineTemplate": {"labels": {"team": "rates"}}}`)); err != nil {
		t.Errorf("a template in its place: %v", err)
	}
	if err := patched(t, admin, object, spec(`{"machineTemplate": {"labels": {"k8s.io/x": ""}}}`)); !apierrors.IsInvalid(err) {
		t.Errorf("a bad template in its place: %v, want it refused", err)
	}
}

// words is an answer as people see it.
func words(err error) string {
	if err == nil {
		return "passes\n"
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error() + "\n"
	}
	return fmt.Sprintf("%d %s: %s\n", status.Status().Code, status.Status().Reason, err)
}

// golden compares a text with a file; -update writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}
