// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

const (
	subdomain = `[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`
	group     = "spotschedules.5spot.finos.org"
)

func mismatch(field, value, pattern string) string {
	return fmt.Sprintf(`%s: Invalid value: %q: %s in body should match '%s'`, field, value, field, pattern)
}

func wrongType(field, got, want string) string {
	return fmt.Sprintf(`%s: Invalid value: %q: %s in body must be of type %s: %q`, field, got, field, want, got)
}

func empty(field string) string {
	return fmt.Sprintf(`%s: Invalid value: "": %s in body should be at least 1 chars long`, field, field)
}

func required(field string) string { return field + ": Required value" }

func TestScheduleReference(t *testing.T) {
	patch := func(field, value string) string {
		return fmt.Sprintf(`{"spec": {"schedule": {%q: %q}}}`, field, value)
	}
	otherGroup := func(value string) []string {
		return []string{
			mismatch("spec.schedule.apiVersion", value, `^spotschedules\.5spot\.finos\.org/[A-Za-z0-9][A-Za-z0-9.-]*$`),
			fmt.Sprintf(`spec.schedule.apiVersion: Invalid value: %q: a schedule is a kind of the API group %s`, value, group),
		}
	}
	noVersion := func(value string) string { return otherGroup(value)[0] }
	badKind := func(value string) string { return mismatch("spec.schedule.kind", value, `^[A-Z][A-Za-z0-9]*$`) }
	badName := func(value string) string { return mismatch("spec.schedule.name", value, "^"+subdomain+"$") }
	long := strings.Repeat("a", 253)

	testValidity(t, smallestMachine, map[string]validity{
		"as it is": accepted(``),
		"none":     refused(`{"spec": {"schedule": null}}`, required("spec.schedule"), notCheckedYet),

		"apiVersion missing":                  refused(`{"spec": {"schedule": {"apiVersion": null}}}`, required("spec.schedule.apiVersion"), notCheckedYet),
		"apiVersion empty":                    refused(patch("apiVersion", ""), empty("spec.schedule.apiVersion"), otherGroup("")[1]),
		"apiVersion of a later version":       accepted(patch("apiVersion", group+"/v2")),
		"apiVersion of a version never heard": accepted(patch("apiVersion", group+"/2031-01.beta")),
		"apiVersion of another group":         refused(patch("apiVersion", "apps/v1"), otherGroup("apps/v1")...),
		"apiVersion of a longer group":        refused(patch("apiVersion", "x."+group+"/v1"), otherGroup("x."+group+"/v1")...),
		"apiVersion with another dot":         refused(patch("apiVersion", "spotschedules-5spot.finos.org/v1"), otherGroup("spotschedules-5spot.finos.org/v1")...),
		"apiVersion without a version":        refused(patch("apiVersion", group), otherGroup(group)...),
		"apiVersion with an empty version":    refused(patch("apiVersion", group+"/"), noVersion(group+"/")),
		"apiVersion with two slashes":         refused(patch("apiVersion", group+"/v1/x"), noVersion(group+"/v1/x")),

		"kind missing":                 refused(`{"spec": {"schedule": {"kind": null}}}`, required("spec.schedule.kind"), notCheckedYet),
		"kind empty":                   refused(patch("kind", ""), empty("spec.schedule.kind")),
		"kind of one letter":           accepted(patch("kind", "X")),
		"kind of 63 letters":           accepted(patch("kind", strings.Repeat("K", 63))),
		"kind of 64 letters":           refused(patch("kind", strings.Repeat("K", 64)), "spec.schedule.kind: Too long: may not be more than 63 bytes", notCheckedYet),
		"kind beginning in lower case": refused(patch("kind", "manualSchedule"), badKind("manualSchedule")),
		"kind with a dash":             refused(patch("kind", "Manual-Schedule"), badKind("Manual-Schedule")),

		"name missing":            refused(`{"spec": {"schedule": {"name": null}}}`, required("spec.schedule.name"), notCheckedYet),
		"name empty":              refused(patch("name", ""), empty("spec.schedule.name")),
		"name of one letter":      accepted(patch("name", "a")),
		"name with dots":          accepted(patch("name", "a.b-c.d0")),
		"name of 253 letters":     accepted(patch("name", long)),
		"name of 254 letters":     refused(patch("name", long+"a"), "spec.schedule.name: Too long: may not be more than 253 bytes", notCheckedYet),
		"name in upper case":      refused(patch("name", "Desk"), badName("Desk")),
		"name with an underscore": refused(patch("name", "desk_1"), badName("desk_1")),
		"name ending in a dot":    refused(patch("name", "desk."), badName("desk.")),
		"name with a namespace":   refused(patch("name", "other/desk"), badName("other/desk")),
	})
}

func TestClusterName(t *testing.T) {
	patch := func(value string) string { return fmt.Sprintf(`{"spec": {"clusterName": %q}}`, value) }
	bad := func(value string) string {
		return mismatch("spec.clusterName", value, `^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	}
	testValidity(t, smallestMachine, map[string]validity{
		"missing":             refused(`{"spec": {"clusterName": null}}`, required("spec.clusterName"), notCheckedYet),
		"empty":               refused(patch(""), empty("spec.clusterName")),
		"mixed case":          accepted(patch("Trading_1.x-y")),
		"63 letters":          accepted(patch(strings.Repeat("a", 63))),
		"64 letters":          refused(patch(strings.Repeat("a", 64)), "spec.clusterName: Too long: may not be more than 63 bytes", notCheckedYet),
		"beginning in a dash": refused(patch("-x"), bad("-x")),
		"with a blank":        refused(patch("a b"), bad("a b")),
		"with a slash":        refused(patch("a/b"), bad("a/b")),
	})
}

// Both embedded objects obey the same rules.
func TestEmbeddedObjects(t *testing.T) {
	for _, field := range []string{"bootstrapSpec", "infrastructureSpec"} {
		t.Run(field, func(t *testing.T) {
			at := "spec." + field
			patch := func(change string) string { return fmt.Sprintf(`{"spec": {%q: %s}}`, field, change) }
			badVersion := func(value string) string {
				return mismatch(at+".apiVersion", value, `^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9][A-Za-z0-9.-]*$`)
			}
			testValidity(t, smallestMachine, map[string]validity{
				"missing": refused(patch(`null`), required(at), notCheckedYet),

				"apiVersion missing":           refused(patch(`{"apiVersion": null}`), required(at+".apiVersion"), notCheckedYet),
				"apiVersion of the core group": refused(patch(`{"apiVersion": "v1"}`), badVersion("v1")),
				"apiVersion without a version": refused(patch(`{"apiVersion": "cluster.x-k8s.io"}`), badVersion("cluster.x-k8s.io")),
				"apiVersion without a group":   refused(patch(`{"apiVersion": "/v1"}`), badVersion("/v1")),
				"apiVersion of k0smotron":      accepted(patch(`{"apiVersion": "k0smotron.io/v1beta1"}`)),

				"kind empty":         refused(patch(`{"kind": ""}`), empty(at+".kind")),
				"kind missing":       refused(patch(`{"kind": null}`), required(at+".kind"), notCheckedYet),
				"kind in lower case": refused(patch(`{"kind": "devmachine"}`), mismatch(at+".kind", "devmachine", `^[A-Z][A-Za-z0-9]*$`)),

				"spec missing":      refused(patch(`{"spec": null}`), required(at+".spec"), notCheckedYet),
				"spec as a string":  refused(patch(`{"spec": "x"}`), wrongType(at+".spec", "string", "object"), notCheckedYet),
				"spec as a list":    refused(patch(`{"spec": []}`), wrongType(at+".spec", "array", "object"), notCheckedYet),
				"spec of any depth": accepted(patch(`{"spec": {"a": {"b": [{"c": 1, "d": [[true, "x"]]}]}, "labels": {"name": "x"}}}`)),

				"metadata with labels and annotations": accepted(patch(`{"metadata": {"labels": {"team": "rates"}, "annotations": {"note": "x y"}}}`)),
				"metadata.labels not strings":          refused(patch(`{"metadata": {"labels": {"team": 1}}}`), wrongType(at+".metadata.labels.team", "integer", "string"), notCheckedYet),
				"metadata.name":                        refused(patch(`{"metadata": {"name": "x"}}`), at+".metadata.name: Invalid value: must not be set: the object takes the name of its ScheduledMachine"),
				"metadata.name empty":                  refused(patch(`{"metadata": {"name": ""}}`), at+".metadata.name: Invalid value: must not be set: the object takes the name of its ScheduledMachine"),
				"metadata.namespace":                   refused(patch(`{"metadata": {"namespace": "x"}}`), at+".metadata.namespace: Invalid value: must not be set: the object lives in the namespace of its ScheduledMachine"),
				"metadata.name and namespace": refused(patch(`{"metadata": {"name": "x", "namespace": "y"}}`),
					at+".metadata.name: Invalid value: must not be set: the object takes the name of its ScheduledMachine",
					at+".metadata.namespace: Invalid value: must not be set: the object lives in the namespace of its ScheduledMachine"),
			})
		})
	}
}

func TestTimeouts(t *testing.T) {
	for _, field := range []string{"gracefulShutdownTimeout", "nodeDrainTimeout"} {
		t.Run(field, func(t *testing.T) {
			at := "spec." + field
			patch := func(value string) string { return fmt.Sprintf(`{"spec": {%q: %q}}`, field, value) }
			rows := map[string]validity{
				"a number":            refused(fmt.Sprintf(`{"spec": {%q: 300}}`, field), wrongType(at, "integer", "string"), notCheckedYet),
				"more than 18 digits": refused(patch("1000000000000000000s"), at+": Too long: may not be more than 19 bytes", notCheckedYet),
			}
			for _, value := range []string{"0s", "0m", "0h", "1s", "5m", "24h", "1440m", "86400s", "007m", "000000000000000024h"} {
				rows[value] = accepted(patch(value))
			}
			for _, value := range []string{"25h", "1441m", "86401s", "999999999999999999h", "100000000s"} {
				rows[value] = refused(patch(value), fmt.Sprintf("%s: Invalid value: %q: must be at most 24h", at, value))
			}
			for _, value := range []string{"", "5", "m", "-5m", "+5m", "5M", "5 m", " 5m", "5m\n", "1h30m", "5.5m", "5d", "5ms", "٥m"} {
				rows[fmt.Sprintf("%q", value)] = refused(patch(value), mismatch(at, value, `^[0-9]+[smh]$`))
			}
			testValidity(t, smallestMachine, rows)
		})
	}
}

func TestSwitchesAndPriority(t *testing.T) {
	rows := map[string]validity{
		"priority lowest":   accepted(`{"spec": {"priority": 0}}`),
		"priority highest":  accepted(`{"spec": {"priority": 255}}`),
		"priority whole":    accepted(`{"spec": {"priority": 7.0}}`),
		"priority too low":  refused(`{"spec": {"priority": -1}}`, "spec.priority: Invalid value: -1: spec.priority in body should be greater than or equal to 0"),
		"priority too high": refused(`{"spec": {"priority": 256}}`, "spec.priority: Invalid value: 256: spec.priority in body should be less than or equal to 255"),
		"priority a fraction": refused(`{"spec": {"priority": 1.5}}`, wrongType("spec.priority", "float64", "int32"),
			`<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.priority`, notCheckedYet),
		"priority a string": refused(`{"spec": {"priority": "50"}}`, wrongType("spec.priority", "string", "integer"), notCheckedYet),
	}
	for _, field := range []string{"enabled", "killSwitch"} {
		maps.Copy(rows, map[string]validity{
			field + " true":     accepted(fmt.Sprintf(`{"spec": {%q: true}}`, field)),
			field + " false":    accepted(fmt.Sprintf(`{"spec": {%q: false}}`, field)),
			field + " a string": refused(fmt.Sprintf(`{"spec": {%q: "false"}}`, field), wrongType("spec."+field, "string", "boolean"), notCheckedYet),
			field + " a number": refused(fmt.Sprintf(`{"spec": {%q: 0}}`, field), wrongType("spec."+field, "integer", "boolean"), notCheckedYet),
		})
	}
	testValidity(t, smallestMachine, rows)
}

func TestMachineTemplate(t *testing.T) {
	testValidity(t, smallestMachine, map[string]validity{
		"empty":                  accepted(`{"spec": {"machineTemplate": {}}}`),
		"labels and annotations": accepted(`{"spec": {"machineTemplate": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}}`),
		"labels not strings":     refused(`{"spec": {"machineTemplate": {"labels": {"a": true}}}}`, wrongType("spec.machineTemplate.labels.a", "boolean", "string"), notCheckedYet),
		"labels as a list":       refused(`{"spec": {"machineTemplate": {"labels": ["a"]}}}`, wrongType("spec.machineTemplate.labels", "array", "object"), notCheckedYet),
	})
}

func TestNodeTaints(t *testing.T) {
	one := func(key, value, effect string) string {
		return fmt.Sprintf(`{"spec": {"nodeTaints": [{"key": %q, "value": %q, "effect": %q}]}}`, key, value, effect)
	}
	key := func(key string) string { return one(key, "", "NoSchedule") }
	const (
		keyPattern = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9.]{0,61}[A-Za-z0-9])?$`
		reserved   = "spec.nodeTaints[0].key: Invalid value: the prefixes 5spot.finos.org/, kubernetes.io/, node.kubernetes.io/ and node-role.kubernetes.io/ are reserved"
	)
	rows := map[string]validity{
		"none":           accepted(`{"spec": {"nodeTaints": []}}`),
		"key empty":      refused(key(""), empty("spec.nodeTaints[0].key")),
		"without value":  accepted(`{"spec": {"nodeTaints": [{"key": "a", "effect": "NoSchedule"}]}}`),
		"without key":    refused(`{"spec": {"nodeTaints": [{"effect": "NoSchedule"}]}}`, required("spec.nodeTaints[0].key"), notCheckedYet),
		"without effect": refused(`{"spec": {"nodeTaints": [{"key": "a"}]}}`, required("spec.nodeTaints[0].effect"), notCheckedYet),
		"another effect": refused(one("a", "", "Evict"), `spec.nodeTaints[0].effect: Unsupported value: "Evict": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`, notCheckedYet),

		"same key, other effect": accepted(`{"spec": {"nodeTaints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]}}`),
		"same key, same effect": refused(`{"spec": {"nodeTaints": [{"key": "a", "value": "x", "effect": "NoSchedule"}, {"key": "a", "value": "y", "effect": "NoSchedule"}]}}`,
			`spec.nodeTaints[1]: Duplicate value: {"effect":"NoSchedule","key":"a"}`),

		"value of 63 letters": accepted(one("a", strings.Repeat("v", 63), "NoSchedule")),
		"value of 64 letters": refused(one("a", strings.Repeat("v", 64), "NoSchedule"), "spec.nodeTaints[0].value: Too long: may not be more than 63 bytes", notCheckedYet),

		"key of 63 letters":                accepted(key(strings.Repeat("k", 63))),
		"key of 253 letters with a prefix": accepted(key(strings.Repeat("p", 189) + "/" + strings.Repeat("k", 63))),
		"key of 254 letters with a prefix": refused(key(strings.Repeat("p", 190)+"/"+strings.Repeat("k", 63)), "spec.nodeTaints[0].key: Too long: may not be more than 253 bytes", notCheckedYet),
		"too many":                         refused(manyTaints(101), "spec.nodeTaints: Too many: 101: must have at most 100 items", notCheckedYet),
		"as many as can be":                accepted(manyTaints(100)),
	}
	for _, effect := range []string{"NoSchedule", "PreferNoSchedule", "NoExecute"} {
		rows["effect "+effect] = accepted(one("a", "x", effect))
	}
	for _, good := range []string{"a", "A.b-C", "example.com/a", "x.kubernetes.io/a", "5spot.finos.org.example.com/a"} {
		rows["key "+good] = accepted(key(good))
	}
	for _, bad := range []string{"-a", "a-", "a_b", "a b", "/a", "a/", "a/b/c", "Example.com/a", "ex_ample.com/a", "example.com./a", strings.Repeat("k", 64)} {
		rows[fmt.Sprintf("key %q", bad)] = refused(key(bad), mismatch("spec.nodeTaints[0].key", bad, keyPattern))
	}
	for _, prefix := range []string{"5spot.finos.org/", "kubernetes.io/", "node.kubernetes.io/", "node-role.kubernetes.io/"} {
		rows["reserved prefix "+prefix] = refused(key(prefix+"a"), reserved)
	}
	for _, bad := range []string{"-a", "a-", "a_b", "a b", "a/b"} {
		rows[fmt.Sprintf("value %q", bad)] = refused(one("a", bad, "NoSchedule"),
			mismatch("spec.nodeTaints[0].value", bad, `^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?)?$`))
	}
	testValidity(t, smallestMachine, rows)
}

func manyTaints(count int) string {
	taints := make([]string, count)
	for i := range taints {
		taints[i] = fmt.Sprintf(`{"key": "k%d", "effect": "NoSchedule"}`, i)
	}
	return `{"spec": {"nodeTaints": [` + strings.Join(taints, ", ") + `]}}`
}

func TestKillIfCommands(t *testing.T) {
	patch := func(commands ...string) string {
		return fmt.Sprintf(`{"spec": {"killIfCommands": ["%s"]}}`, strings.Join(commands, `", "`))
	}
	many := func(count int) []string {
		commands := make([]string, count)
		for i := range commands {
			commands[i] = "stress"
		}
		return commands
	}
	testValidity(t, smallestMachine, map[string]validity{
		"one":               accepted(patch("stress-ng")),
		"the same twice":    accepted(patch("a", "a")),
		"100":               accepted(patch(many(100)...)),
		"101":               refused(patch(many(101)...), "spec.killIfCommands: Too many: 101: must have at most 100 items", notCheckedYet),
		"empty":             refused(patch(""), empty("spec.killIfCommands[0]")),
		"256 characters":    accepted(patch(strings.Repeat("x", 256))),
		"257 characters":    refused(patch(strings.Repeat("x", 257)), "spec.killIfCommands[0]: Too long: may not be more than 256 bytes", notCheckedYet),
		"not a list":        refused(`{"spec": {"killIfCommands": "stress"}}`, wrongType("spec.killIfCommands", "string", "array"), notCheckedYet),
		"an entry a number": refused(`{"spec": {"killIfCommands": [7]}}`, wrongType("spec.killIfCommands[0]", "integer", "string"), notCheckedYet),
	})
}

func TestKubeconfigSecretReference(t *testing.T) {
	patch := func(reference string) string { return `{"spec": {"kubeconfigSecretRef": ` + reference + `}}` }
	const at = "spec.kubeconfigSecretRef"
	testValidity(t, smallestMachine, map[string]validity{
		"name only":           accepted(patch(`{"name": "trading-admin"}`)),
		"name and key":        accepted(patch(`{"name": "trading.admin", "key": "kube_config.YAML-1"}`)),
		"without a name":      refused(patch(`{"key": "value"}`), required(at+".name"), notCheckedYet),
		"name in upper case":  refused(patch(`{"name": "Trading"}`), mismatch(at+".name", "Trading", "^"+subdomain+"$")),
		"name of 254 letters": refused(patch(`{"name": "`+strings.Repeat("a", 254)+`"}`), at+".name: Too long: may not be more than 253 bytes", notCheckedYet),
		"key with a slash":    refused(patch(`{"name": "a", "key": "a/b"}`), mismatch(at+".key", "a/b", `^[A-Za-z0-9._-]+$`)),
		"key of 254 letters":  refused(patch(`{"name": "a", "key": "`+strings.Repeat("a", 254)+`"}`), at+".key: Too long: may not be more than 253 bytes", notCheckedYet),
	})
}

func TestKata(t *testing.T) {
	patch := func(change string) string {
		if change != "" {
			change = ", " + change
		}
		return `{"spec": {"kata": {"kind": "ConfigMap", "name": "kata"` + change + `}}}`
	}
	const (
		at     = "spec.kata"
		unit   = `^[A-Za-z0-9@._][A-Za-z0-9@._-]*\.service$`
		toLong = ": Too long: may not be more than "
	)
	rows := map[string]validity{
		"kind and name":           accepted(patch(``)),
		"kind Secret":             accepted(`{"spec": {"kata": {"kind": "Secret", "name": "kata"}}}`),
		"without a kind":          refused(`{"spec": {"kata": {"name": "kata"}}}`, required(at+".kind"), notCheckedYet),
		"without a name":          refused(`{"spec": {"kata": {"kind": "Secret"}}}`, required(at+".name"), notCheckedYet),
		"another kind":            refused(`{"spec": {"kata": {"kind": "File", "name": "kata"}}}`, at+`.kind: Unsupported value: "File": supported values: "ConfigMap", "Secret"`, notCheckedYet),
		"name in upper case":      refused(`{"spec": {"kata": {"kind": "Secret", "name": "Kata"}}}`, mismatch(at+".name", "Kata", "^"+subdomain+"$")),
		"namespace":               accepted(patch(`"namespace": "kata-1"`)),
		"namespace with a dot":    refused(patch(`"namespace": "a.b"`), mismatch(at+".namespace", "a.b", `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)),
		"namespace of 64 letters": refused(patch(`"namespace": "`+strings.Repeat("a", 64)+`"`), at+".namespace"+toLong+"63 bytes", notCheckedYet),
		"key with a slash":        refused(patch(`"key": "../kata.toml"`), mismatch(at+".key", "../kata.toml", `^[A-Za-z0-9._-]+$`)),
		"service of 256 letters":  refused(patch(`"restartService": "`+strings.Repeat("a", 248)+`.service"`), at+".restartService"+toLong+"255 bytes", notCheckedYet),
	}
	for _, good := range []string{"k3s.service", "getty@tty1.service", "_x.service", ".x.service"} {
		rows["service "+good] = accepted(patch(`"restartService": "` + good + `"`))
	}
	for _, bad := range []string{"-k3s.service", "--now.service", "k3s", "k3s.timer", "a b.service", "a;b.service", "k3s.service "} {
		rows[fmt.Sprintf("service %q", bad)] = refused(patch(`"restartService": "`+bad+`"`), mismatch(at+".restartService", bad, unit))
	}
	testValidity(t, smallestMachine, rows)
}

// A ScheduledMachine may have any name that an object may have.
func TestName(t *testing.T) {
	patch := func(name string) string { return fmt.Sprintf(`{"metadata": {"name": %q}}`, name) }
	testValidity(t, smallestMachine, map[string]validity{
		"with dots":   accepted(patch("a.b")),
		"253 letters": accepted(patch(strings.Repeat("a", 253))),
	})
}

func TestSpecIsRequired(t *testing.T) {
	testValidity(t, smallestMachine, map[string]validity{
		"missing": refused(`{"spec": null}`, required("spec"), notCheckedYet),
		"empty": refused(`{"spec": {"schedule": null, "clusterName": null, "bootstrapSpec": null, "infrastructureSpec": null}}`,
			required("spec.bootstrapSpec"), required("spec.clusterName"), required("spec.infrastructureSpec"), required("spec.schedule"), notCheckedYet),
	})
}
