// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// list renders n items of a JSON list.
func list(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func text(n int) string { return strings.Repeat("x", n) }

// labels renders n labels, each as long as one may be.
func labels(n int) string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf(`"%s.example.com/%s%05d": %q`, text(63), text(58), i, text(63)))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// The largest objects pass within the cost that the API server allows a policy,
// also as an update of which everything is new.
func TestLargestObjectsPass(t *testing.T) {
	days := `["mon","tue","wed","thu","fri","sat","sun - sun"]`
	hours := list(24, func(i int) string { return fmt.Sprintf(`"%d - %d"`, i, (i+1)%24) })
	date := func(i int) string { return fmt.Sprintf("20%02d-%02d-%02d", 26+i/336, 1+i/28%12, 1+i%28) }
	for name, object := range map[string]struct{ base, spec string }{
		"machine with embedded specs of a megabyte": {smallestMachine, fmt.Sprintf(
			`{"bootstrapSpec": {"spec": {"files": %s}}, "infrastructureSpec": {"spec": {"a": {"b": %q}}}}`,
			list(2000, func(i int) string { return fmt.Sprintf(`{"path": "/etc/%d", "content": %q}`, i, text(256)) }), text(400_000))},
		"machine with every list full": {smallestMachine, fmt.Sprintf(
			`{"nodeTaints": %s, "killIfCommands": %s, "clusterName": "trading"}`,
			list(100, func(i int) string {
				return fmt.Sprintf(`{"key": "%s.example.com/%s%05d", "value": %q, "effect": "NoExecute"}`, text(63), text(58), i, text(63))
			}),
			list(100, func(int) string { return fmt.Sprintf("%q", text(256)) }))},
		"machine with a thousand labels and annotations": {smallestMachine, fmt.Sprintf(
			`{"machineTemplate": {"labels": %[1]s, "annotations": %[1]s}, "bootstrapSpec": {"metadata": {"labels": %[1]s, "annotations": %[1]s}},
			"infrastructureSpec": {"metadata": {"labels": %[1]s, "annotations": %[1]s}}}`, labels(170))},
		"time-based": {smallestTimeBased, fmt.Sprintf(
			`{"daysOfWeek": %[1]s, "hoursOfDay": %[2]s, "exceptDates": %[3]s, "windows": %[4]s, "once": %[5]s}`, days, hours,
			list(366, func(i int) string { return fmt.Sprintf("%q", date(i)) }),
			list(100, func(i int) string { return fmt.Sprintf(`{"days": %s, "start": "00:%02d", "end": "24:00"}`, days, i%60) }),
			list(100, func(i int) string {
				return fmt.Sprintf(`{"start": "%[1]sT00:00:00.000000000+00:00", "end": "%[1]sT23:59:59.000000000+00:00"}`, date(i))
			}))},
		"capital-markets": {smallestMarkets, fmt.Sprintf(
			`{"exchange": "XWBO", "sessions": %s, "holidays": %s, "earlyCloses": %s, "lateOpens": %s, "specialSessions": %s}`,
			list(200, func(i int) string {
				if i%2 == 0 {
					return fmt.Sprintf(`{"daysOfWeek": %s, "hoursOfDay": %s}`, days, hours)
				}
				return fmt.Sprintf(`{"daysOfWeek": %s, "open": "17:%02d", "close": "17:00", "openDayOffset": -1}`, days, i%60)
			}),
			list(366, func(i int) string { return fmt.Sprintf("%q", date(i)) }),
			list(366, func(i int) string { return fmt.Sprintf(`{"date": %q, "close": "13:00"}`, date(i)) }),
			list(366, func(i int) string { return fmt.Sprintf(`{"date": %q, "open": "10:00"}`, date(i)) }),
			list(366, func(i int) string { return fmt.Sprintf(`{"date": %q, "open": "10:00", "close": "11:00"}`, date(i)) }))},
	} {
		t.Run(name, func(t *testing.T) {
			admin := devplanetest.Client(t)
			namespace := devplanetest.Namespace(t)
			large := with(t, object.base, spec("%s", object.spec), namespace, "")
			encoded, err := large.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes", len(encoded))
			if err := admin.Create(t.Context(), large, client.DryRunAll); err != nil {
				t.Errorf("a new one: %.1000v", err)
			}
			small := with(t, object.base, `{}`, namespace, "")
			if err := admin.Create(t.Context(), small); err != nil {
				t.Fatal(err)
			}
			if err := patched(t, admin, small, spec("%s", object.spec)); err != nil {
				t.Errorf("a changed one: %.1000v", err)
			}
			if err := admin.Patch(t.Context(), small.DeepCopy(), mergePatch(spec("%s", object.spec))); err != nil {
				t.Fatal(err)
			}
			if err := patched(t, admin, small, shifted(object.spec)); err != nil {
				t.Errorf("a large one of which everything changes: %.1000v", err)
			}
		})
	}
}

// shifted is a spec in which every date, minute and text is another.
func shifted(text string) string {
	text = strings.NewReplacer(`"20`, `"21`, "xxx", "yyy", `"17:00"`, `"16:59"`, `"24:00"`, `"23:59"`).Replace(text)
	return spec("%s", text)
}
