// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// adviceRights is what to do about an account with too many rights.
const adviceRights = "Grant get, list and watch on the kind and get, update and patch on its /status, by name, and nothing else; " +
	"`kubectl auth can-i --list --as=system:serviceaccount:NAMESPACE:NAME` shows what the account may do. " +
	"What decisions depend on beside the kind can be named by --may-read (Options.MayRead)."

// accountChecks ask the API server what the provider's account may do.
func accountChecks() []Check {
	checks := []Check{
		{
			ID: "account-reads-kind", Title: "The account may get, list and watch the kind in every namespace",
			Advice: "Grant get, list and watch on the kind by a ClusterRole and a ClusterRoleBinding.",
			run:    accountReadsKind,
		},
		{
			ID: "account-writes-status", Title: "The account may write the status of the kind in every namespace",
			Advice: "Grant get, update and patch on the kind's /status by a ClusterRole and a ClusterRoleBinding.",
			run:    accountWritesStatus,
		},
		refused("account-spares-spec", "The account may not write the kind beside its status", specQuestions),
		refused("account-spares-schedules", "The account may do nothing to other schedule kinds", scheduleQuestions),
		refused("account-spares-machines", "The account may do nothing in the group "+v1beta1.GroupVersion.Group, machineQuestions),
		refused("account-no-wildcard", "The account has no right by a wildcard", wildcardQuestions),
		refused("account-spares-cluster", "The account may read no Secret and change nothing else in the cluster", clusterQuestions),
	}
	for i := range checks {
		check := &checks[i]
		check.Group, check.Rule, check.Level = GroupAccount, "C29", Required
		check.needs, check.uses = []string{idGroup}, []given{givenAccount}
		if i > 0 { // the first one says whether there is such an account
			check.run = ofAccount(check.run)
		}
	}
	return checks
}

// question is one thing to ask for: a verb on a resource, in all namespaces, or
// on a path that is no resource.
type question struct {
	verb, group, resource, subresource string
	path                               string
}

// String spells the question as RBAC would grant it.
func (q question) String() string {
	if q.path != "" {
		return q.verb + " the non-resource URL " + q.path
	}
	resource := q.resource
	if q.subresource != "" {
		resource += "/" + q.subresource
	}
	if q.group != "" {
		resource += "." + q.group
	}
	return q.verb + " " + resource
}

// on returns the questions for each of the verbs on a resource, given as
// "resource" or "resource/subresource".
func on(group, resource string, verbs ...string) []question {
	resource, subresource, _ := strings.Cut(resource, "/")
	var all []question
	for _, verb := range verbs {
		all = append(all, question{verb: verb, group: group, resource: resource, subresource: subresource})
	}
	return all
}

var (
	readVerbs  = []string{"get", "list", "watch"}
	writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}
)

// everything returns the questions for all verbs on a resource and its status.
func everything(group, resource string) []question {
	return slices.Concat(
		on(group, resource, readVerbs...), on(group, resource, writeVerbs...),
		on(group, resource+"/status", "get", "update", "patch"))
}

func (e *env) plural() string { return e.definition().Spec.Names.Plural }

// accountReadsKind asks for what a provider cannot do without.
func accountReadsKind(ctx context.Context, e *env) (finding, error) {
	switch exists, err := e.accountExists(ctx); {
	case apierrors.IsForbidden(err): // the answers will do
	case err != nil:
		return finding{}, err
	case !exists:
		return fail(noAccount)
	}
	answers, err := e.ask(ctx, on(contract.Group, e.plural(), readVerbs...))
	if err != nil {
		return finding{}, err
	}
	if len(answers.lacks) > 0 {
		return fail("it may not %s", listed(answers.lacks))
	}
	return pass("")
}

const noAccount = "the service account does not exist"

// ofAccount runs a check where the account exists: one that does not has no right
// too many, whatever the provider's own has.
func ofAccount(run func(context.Context, *env) (finding, error)) func(context.Context, *env) (finding, error) {
	return func(ctx context.Context, e *env) (finding, error) {
		switch exists, err := e.accountExists(ctx); {
		case err != nil:
			return finding{}, err
		case !exists:
			return skip(noAccount)
		}
		return run(ctx, e)
	}
}

func (e *env) accountExists(ctx context.Context) (bool, error) {
	err := e.client.Get(ctx, e.options.ServiceAccount, &corev1.ServiceAccount{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the service account: %w", err)
	}
	return true, nil
}

// accountWritesStatus is content with either way to write.
func accountWritesStatus(ctx context.Context, e *env) (finding, error) {
	answers, err := e.ask(ctx, on(contract.Group, e.plural()+"/status", "patch", "update"))
	if err != nil {
		return finding{}, err
	}
	if len(answers.may) == 0 {
		return fail("it may not %s", listed(answers.lacks))
	}
	return pass("")
}

// refused returns a check that no question is answered with yes.
func refused(id, title string, questions func(*env) []question) Check {
	return Check{ID: id, Title: title, Advice: adviceRights, run: func(ctx context.Context, e *env) (finding, error) {
		asked := slices.DeleteFunc(questions(e), func(q question) bool { return mayRead(e.options.MayRead, q) })
		answers, err := e.ask(ctx, asked)
		if err != nil {
			return finding{}, err
		}
		return answers.refuse()
	}}
}

// answers are questions by what the API server says of them.
type answers struct {
	may, lacks []question
	// trouble is what kept the API server from looking at every rule, if anything
	// did: a no then need not be one.
	trouble string
}

// refuse passes when each answer is a no.
func (a *answers) refuse() (finding, error) {
	switch {
	case len(a.may) > 0:
		return fail("it may %s", listed(a.may))
	case a.trouble != "":
		return skip("the API server could not look at every rule for the account; see to it that it can: %s", a.trouble)
	}
	return pass("")
}

// ask asks the API server what the account may do.
func (e *env) ask(ctx context.Context, questions []question) (*answers, error) {
	account := e.options.ServiceAccount
	all := &answers{}
	for _, q := range questions {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + account.Namespace + ":" + account.Name,
			Groups: []string{
				"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated",
			},
		}}
		if q.path != "" {
			review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: q.verb, Path: q.path}
		} else {
			review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
				Verb: q.verb, Group: q.group, Resource: q.resource, Subresource: q.subresource,
			}
		}
		if err := e.client.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("asking whether the account may %s: %w", q, err)
		}
		if review.Status.Allowed {
			all.may = append(all.may, q)
			continue
		}
		all.lacks = append(all.lacks, q)
		all.trouble = cmp.Or(all.trouble, review.Status.EvaluationError)
	}
	return all, nil
}

// listed names some of the questions, and how many there are.
func listed(questions []question) string {
	const most = 5
	var texts []string
	for _, q := range questions[:min(len(questions), most)] {
		texts = append(texts, q.String())
	}
	text := strings.Join(texts, ", ")
	if len(questions) > most {
		text += fmt.Sprintf(" and %d more", len(questions)-most)
	}
	return text
}

// mayRead reports whether a question is for a right to read that was declared.
func mayRead(declared []string, q question) bool {
	if !slices.Contains(readVerbs, q.verb) || q.subresource != "" {
		return false
	}
	for _, one := range declared {
		resource, group, _ := strings.Cut(one, ".")
		if group == q.group && (resource == "*" || resource == q.resource) {
			return true
		}
	}
	return false
}

// specQuestions are for the kind beside its status.
func specQuestions(e *env) []question {
	return slices.Concat(
		on(contract.Group, e.plural(), writeVerbs...),
		on(contract.Group, e.plural()+"/finalizers", "update", "patch"),
		on(contract.Group, e.plural()+"/scale", "update", "patch"))
}

// shipped are the plurals that the guide's readers are likely to have, whether
// or not their CRDs are installed.
var shipped = []string{"capitalmarketsschedules", "manualschedules", "timebasedspotschedules"}

// scheduleQuestions are for the other kinds of the group.
func scheduleQuestions(e *env) []question {
	plurals := slices.Clone(shipped)
	for _, definition := range e.definitions {
		if definition.Spec.Group == contract.Group {
			plurals = append(plurals, definition.Spec.Names.Plural)
		}
	}
	slices.Sort(plurals)
	var all []question
	for _, plural := range slices.Compact(plurals) {
		if plural != e.plural() {
			all = append(all, everything(contract.Group, plural)...)
		}
	}
	return all
}

func machineQuestions(*env) []question {
	return slices.Concat(
		everything(v1beta1.GroupVersion.Group, "scheduledmachines"),
		on(v1beta1.GroupVersion.Group, "scheduledmachines/finalizers", "update", "patch"))
}

// wildcardQuestions name the wildcards themselves, which only a rule with the
// same wildcard grants.
func wildcardQuestions(e *env) []question {
	all := slices.Concat(on(contract.Group, e.plural(), "*"), on(contract.Group, e.plural()+"/status", "*"))
	verbs := slices.Concat(readVerbs, writeVerbs, []string{"*"})
	for _, where := range []struct{ group, resource string }{
		{contract.Group, "*"},
		{contract.Group, "*/status"},
		{v1beta1.GroupVersion.Group, "*"},
		{"", "*"},
		{"*", "*"},
		{"*", e.plural()},
		{"*", e.plural() + "/status"},
	} {
		all = append(all, on(where.group, where.resource, verbs...)...)
	}
	for _, group := range otherGroups(e) {
		all = append(all, on(group, "*", verbs...)...)
	}
	return append(all, question{verb: "get", path: "*"}, question{verb: "post", path: "*"})
}

// kubernetesGroups are the API groups of Kubernetes itself, beside the core.
var kubernetesGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
	"authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io",
	"events.k8s.io", "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
	"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
}

// otherGroups returns the API groups that are neither the core nor of 5-Spot:
// those of Kubernetes and of the CustomResourceDefinitions.
func otherGroups(e *env) []string {
	groups := slices.Clone(kubernetesGroups)
	for _, definition := range e.definitions {
		groups = append(groups, definition.Spec.Group)
	}
	slices.Sort(groups)
	return slices.DeleteFunc(slices.Compact(groups), func(group string) bool {
		return group == contract.Group || group == v1beta1.GroupVersion.Group
	})
}

// clusterQuestions are for what a stolen token must not be good for.
func clusterQuestions(*env) []question {
	rbac := "rbac.authorization.k8s.io"
	return slices.Concat(
		on("", "secrets", readVerbs...),
		on("", "secrets", writeVerbs...),
		on("", "configmaps", writeVerbs...),
		on("", "namespaces", writeVerbs...),
		on("", "nodes", writeVerbs...),
		on("", "pods", writeVerbs...),
		on("", "pods/exec", "create", "get"),
		on("", "serviceaccounts", append([]string{"impersonate"}, writeVerbs...)...),
		on("", "serviceaccounts/token", "create"),
		on("", "users", "impersonate"),
		on("", "groups", "impersonate"),
		on("apps", "deployments", writeVerbs...),
		on("apps", "daemonsets", writeVerbs...),
		on("batch", "jobs", writeVerbs...),
		on(rbac, "roles", append([]string{"bind", "escalate"}, writeVerbs...)...),
		on(rbac, "rolebindings", writeVerbs...),
		on(rbac, "clusterroles", append([]string{"bind", "escalate"}, writeVerbs...)...),
		on(rbac, "clusterrolebindings", writeVerbs...),
		on("apiextensions.k8s.io", "customresourcedefinitions", writeVerbs...),
		on("admissionregistration.k8s.io", "mutatingwebhookconfigurations", writeVerbs...),
		on("admissionregistration.k8s.io", "validatingwebhookconfigurations", writeVerbs...),
		on("cluster.x-k8s.io", "machines", writeVerbs...),
		on("cluster.x-k8s.io", "clusters", writeVerbs...),
	)
}
