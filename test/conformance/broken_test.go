// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

// broken is a kind or a provider that breaks one rule, or that keeps one from being
// looked at.
type broken struct {
	// rule is the one that is broken, and fails are the checks that see it. skips are
	// the checks that have nothing to see, and must not pass.
	rule  string
	fails []string
	skips []string
	// edit changes the CRD, grants are further rights of the account, lacks are
	// verbs that it has not, and fault is what the provider does.
	edit   func(crd map[string]any)
	grants string
	lacks  string
	fault  fault
	// objects is how many to make at once; zero means as many as elsewhere.
	objects int
	// only limits the run, where the provider itself is sound.
	only []string
	// withoutAccount leaves the account's rights unchecked: to break the rule takes
	// a right too many.
	withoutAccount bool
	// account is another name of an account to give than the provider's.
	account string
	// idleFor is how long to watch without edits; zero means as long as elsewhere.
	idleFor time.Duration
	// restart is what is given to restart the provider, if that does not.
	restart func(context.Context) error
}

var accountOnly = []string{
	"account-reads-kind", "account-writes-status", "account-spares-spec", "account-spares-schedules",
	"account-spares-machines", "account-no-wildcard", "account-spares-cluster",
}

var brokenDefinitions = map[string]broken{
	"is in another group": {rule: "C1", fails: []string{"crd-group"}, edit: func(crd map[string]any) {
		at(crd, "metadata")["name"] = "isinanothergroups.example.com"
		at(crd, "spec")["group"] = "example.com"
	}},
	"has a name that is taken": {rule: "C1", fails: []string{"crd-established"}, edit: func(crd map[string]any) {
		at(crd, "spec", "names")["shortNames"] = []any{"manualschedule"}
	}},
	"is cluster-scoped": {rule: "C2", fails: []string{"crd-namespaced"}, edit: func(crd map[string]any) {
		at(crd, "spec")["scope"] = "Cluster"
	}},
	"has no status subresource": {rule: "C3", fails: []string{"crd-status-subresource"}, edit: func(crd map[string]any) {
		delete(version(crd), "subresources")
	}},
	"does not declare active": {rule: "C4", fails: []string{"crd-active-boolean"}, edit: func(crd map[string]any) {
		delete(statusSchema(crd), "active")
		at(version(crd), "schema", "openAPIV3Schema", "properties", "status")["x-kubernetes-preserve-unknown-fields"] = true
	}},
	"has a default verdict": {rule: "C5", fails: []string{"crd-active-no-default"}, edit: func(crd map[string]any) {
		at(statusSchema(crd), "active")["default"] = false
	}},
	"prunes messages": {rule: "C7", fails: []string{"crd-conditions", "ready-condition"}, edit: func(crd map[string]any) {
		delete(at(statusSchema(crd), "conditions", "items", "properties"), "message")
	}},
	"prunes observedGeneration": {rule: "C8", fails: []string{"crd-observed-generation", "observed-generation"}, edit: func(crd map[string]any) {
		delete(statusSchema(crd), "observedGeneration")
	}},
	"prunes lastTransitionTime": {rule: "C9", fails: []string{"crd-transition-time", "transition-time-moves"}, edit: func(crd map[string]any) {
		delete(statusSchema(crd), "lastTransitionTime")
	}},
	"admits no conditions of others": {skips: []string{"others-status-kept"}, edit: func(crd map[string]any) {
		at(statusSchema(crd), "conditions", "items", "properties", "type")["enum"] = []any{"Ready"}
	}},
	"shows no verdict": {rule: "C28", fails: []string{"crd-printer-column"}, edit: func(crd map[string]any) {
		delete(version(crd), "additionalPrinterColumns")
	}},
}

var brokenAccounts = map[string]broken{
	"may not watch":            {fails: []string{"account-reads-kind"}, lacks: "watch"},
	"may not write its status": {fails: []string{"account-writes-status"}, lacks: "update, patch"},
	"may patch the spec": {fails: []string{"account-spares-spec"}, grants: `
  - {apiGroups: [spotschedules.5spot.finos.org], resources: [PLURAL], verbs: [patch]}
`},
	"may read another kind": {fails: []string{"account-spares-schedules"}, grants: `
  - {apiGroups: [spotschedules.5spot.finos.org], resources: [manualschedules], verbs: [get]}
`},
	"may read machines": {fails: []string{"account-spares-machines"}, grants: `
  - {apiGroups: [5spot.finos.org], resources: [scheduledmachines], verbs: [list]}
`},
	"may do everything to its status": {fails: []string{"account-no-wildcard"}, grants: `
  - {apiGroups: [spotschedules.5spot.finos.org], resources: [PLURAL/status], verbs: ["*"]}
`},
	"may read a whole group": {fails: []string{"account-no-wildcard"}, grants: `
  - {apiGroups: [batch], resources: ["*"], verbs: [get]}
`},
	"may ask for every path": {fails: []string{"account-no-wildcard"}, grants: `
  - {nonResourceURLs: ["*"], verbs: [get]}
`},
	"has another name": {fails: []string{"account-reads-kind"}, skips: accountOnly[1:], account: "nobody"},
	"may read secrets": {fails: []string{"account-spares-cluster"}, grants: `
  - {apiGroups: [""], resources: [secrets], verbs: [get]}
`},
}

var brokenProviders = map[fault]broken{
	"writes nothing":                {rule: "C4", fails: []string{"status-appears"}},
	"publishes a string":            {rule: "C4", fails: []string{"crd-active-boolean", "status-active-boolean"}, edit: anyActive},
	"is silent about invalid specs": {skips: []string{"undecided-no-verdict"}},
	"inverts":                       {rule: "C4", fails: []string{"active-verdict", "inactive-verdict"}},
	"is always active":              {rule: "C4", fails: []string{"inactive-verdict"}},
	"is never ready":                {rule: "C4", fails: []string{"active-verdict", "inactive-verdict"}},
	"ignores edits":                 {rule: "C4", fails: []string{"follows-edits"}},
	"guesses at first":              {rule: "C5", fails: []string{"undecided-no-verdict"}},
	"guesses a moment later":        {rule: "C5", fails: []string{"undecided-no-verdict"}},
	"turns off a moment later":      {rule: "C6", fails: []string{"invalid-keeps-verdict"}},
	"clings to what it kept":        {rule: "C6", fails: []string{"invalid-recovers"}},
	"turns invalid specs off":       {rule: "C6", fails: []string{"invalid-keeps-verdict"}},
	"turns invalid specs on":        {rule: "C6", fails: []string{"invalid-keeps-verdict"}},
	"gives up on invalid specs":     {rule: "C6", fails: []string{"invalid-recovers"}},
	"speaks in sentences":           {rule: "C7", fails: []string{"ready-condition"}},
	"observes one generation":       {rule: "C8", fails: []string{"observed-generation"}},
	"stamps once":                   {rule: "C9", fails: []string{"transition-time-moves"}},
	"stamps each problem":           {rule: "C9", fails: []string{"transition-time-stays"}},
	"stamps each generation":        {rule: "C9", fails: []string{"transition-time-stays"}, edit: onOrOff},
	"goes by generations":           {skips: []string{"transition-time-stays"}, edit: onOrOff},
	"never says when":               {skips: []string{"next-transition-time"}},
	"says soon":                     {rule: "C10", fails: []string{"next-transition-time"}},
	"is late":                       {rule: "C11", fails: []string{"reacts-to-edits"}},
	"polls":                         {rule: "C11", fails: []string{"idle-no-polling"}},
	"polls a namespace":             {rule: "C11", fails: []string{"idle-no-polling"}},
	"polls by name":                 {rule: "C11", fails: []string{"idle-no-polling"}},
	"polls every nine seconds":      {rule: "C11", fails: []string{"idle-no-polling"}, idleFor: 30 * time.Second},
	"beats":                         {rule: "C12", fails: []string{"touch-quiet", "idle-quiet", "restart-quiet"}, objects: 20},
	"goes on":                       {skips: []string{"restart-quiet"}, restart: func(context.Context) error { return nil }},
	"quotes annotations":            {rule: "C12", fails: []string{"touch-quiet"}},
	"signs its process":             {rule: "C12", fails: []string{"restart-quiet"}},
	"writes annotations":            {rule: "C13", fails: []string{"only-status-written"}, withoutAccount: true, grants: mayPatch},
	"remembers names":               {rule: "C30", fails: []string{"recreated-object"}},
	"works in one namespace":        {rule: "C30", fails: []string{"other-namespaces"}},
	"loses events":                  {rule: "C30", fails: []string{"many-objects"}},
	"replaces conditions":           {rule: "C31", fails: []string{"others-status-kept"}},
}

const mayPatch = `
  - {apiGroups: [spotschedules.5spot.finos.org], resources: [PLURAL], verbs: [patch]}
`

// anyActive lets status.active be of any type.
func anyActive(crd map[string]any) {
	statusSchema(crd)["active"] = map[string]any{"x-kubernetes-preserve-unknown-fields": true}
}

// onOrOff has the API server refuse what cannot be decided.
func onOrOff(crd map[string]any) {
	at(version(crd), "schema", "openAPIV3Schema", "properties", "spec", "properties", "mode")["enum"] = []any{"on", "off"}
}

func TestEachBrokenKindFailsItsRuleAlone(t *testing.T) {
	t.Parallel()
	for name, b := range brokenDefinitions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b.check(t, name)
		})
	}
}

func TestEachBrokenAccountFailsItsRuleAlone(t *testing.T) {
	t.Parallel()
	for name, b := range brokenAccounts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b.rule, b.only = "C29", accountOnly
			b.check(t, name)
		})
	}
}

func TestEachBrokenProviderFailsItsRuleAlone(t *testing.T) {
	t.Parallel()
	for name, b := range brokenProviders {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			b.fault = name
			b.check(t, string(name))
		})
	}
}

// For each check there is something broken that it finds. 5-Spot itself, which is
// not broken here, is the exception.
func TestEveryCheckIsProvedByAFailure(t *testing.T) {
	proved := map[string]bool{"versions-agree": true} // see TestVersionsThatDisagreeFailTheirRuleAlone
	for _, each := range []iter.Seq[broken]{maps.Values(brokenDefinitions), maps.Values(brokenAccounts), maps.Values(brokenProviders)} {
		for b := range each {
			for _, id := range b.fails {
				proved[id] = true
			}
		}
	}
	for _, check := range conformance.Checks() {
		if check.Group != conformance.GroupFiveSpot && !proved[check.ID] {
			t.Errorf("nothing here fails %s", check.ID)
		}
	}
}

// check runs the kit against the kind, and compares what failed.
func (b *broken) check(t *testing.T, name string) {
	t.Helper()
	kind := kindFor(name)
	ownKind(t, kind, b.edit, b.grants, b.lacks)
	runFiveSpot(t)
	skew := &skewedClock{}
	p := &provider{kind: kind, fault: b.fault, config: accountConfig(t, "5spot-system", strings.ToLower(kind)), skew: skew}
	running := start(t, p.run)

	o := options(t, kind)
	o.On, o.Off, o.Invalid = mode(kind, "on"), mode(kind, "off"), mode(kind, "sideways")
	if b.objects > 0 {
		o.Objects = b.objects
	}
	if b.idleFor > 0 {
		o.IdleFor = b.idleFor
	}
	if !b.withoutAccount {
		o.ServiceAccount = types.NamespacedName{Namespace: "5spot-system", Name: strings.ToLower(kind)}
	}
	if b.account != "" {
		o.ServiceAccount.Name = b.account
	}
	o.Restart, o.Clock, o.Only = running.restart, skew, b.only
	if b.restart != nil {
		o.Restart = b.restart
	}
	report, err := conformance.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b.compare(t, report)
}

func (b *broken) compare(t *testing.T, report conformance.Report) {
	t.Helper()
	failed := []string{}
	for _, result := range report.Failures() {
		failed = append(failed, result.ID)
		if result.Rule != b.rule {
			t.Errorf("%s is of rule %s, and %s is broken", result.ID, result.Rule, b.rule)
		}
		if result.Message == "" || result.Advice == "" {
			t.Errorf("%s does not say what is wrong (%q) or what to do (%q)", result.ID, result.Message, result.Advice)
		}
		t.Logf("%s: %s", result.ID, result.Message)
	}
	slices.Sort(failed)
	want := slices.Sorted(slices.Values(b.fails))
	if diff := cmp.Diff(want, failed, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("failed checks (-want +got):\n%s", diff)
	}
	for _, result := range report.Results {
		skipped := result.Outcome == conformance.Skipped
		switch {
		case skipped && !b.mayBeSkipped(result):
			t.Errorf("%s was skipped: %s", result.ID, result.Message)
		case !skipped && slices.Contains(b.skips, result.ID):
			t.Errorf("%s is %s, and there is nothing to see", result.ID, result.Outcome)
		}
	}
}

// mayBeSkipped reports whether a check was skipped for what is to fail.
func (b *broken) mayBeSkipped(result conformance.Result) bool {
	return slices.Contains(b.skips, result.ID) || b.isTooShort(result) ||
		len(b.only) > 0 && !slices.Contains(b.only, result.ID) ||
		b.withoutAccount && result.Group == conformance.GroupAccount ||
		slices.ContainsFunc(b.fails, func(id string) bool {
			return result.Message == fmt.Sprintf("it says nothing while %s fails", id)
		})
}

// isTooShort reports whether a check was skipped for the short time that these tests
// watch without edits.
func (b *broken) isTooShort(result conformance.Result) bool {
	return result.ID == "idle-no-polling" && b.idleFor == 0 && strings.Contains(result.Message, "too short")
}

// kindFor makes a kind of a sentence.
func kindFor(sentence string) string {
	var kind strings.Builder
	upper := true
	for _, r := range sentence {
		switch {
		case !unicode.IsLetter(r):
			upper = true
		case upper:
			kind.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			kind.WriteRune(r)
		}
	}
	return kind.String()
}
