// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/fivespot/fivespot/api/contract"
)

// Ids of checks that others rest on.
const (
	idGroup       = "crd-group"
	idEstablished = "crd-established"
	idNamespaced  = "crd-namespaced"
	idSubresource = "crd-status-subresource"
	idNoDefault   = "crd-active-no-default"
)

// definitionChecks look at the CustomResourceDefinition.
func definitionChecks() []Check {
	checks := append(kindChecks(), schemaChecks()...)
	for i := range checks {
		checks[i].Group = GroupDefinition
	}
	return checks
}

func kindChecks() []Check {
	return []Check{
		{
			ID: idGroup, Rule: "C1", Level: Required,
			Title:  "The kind is in the API group " + contract.Group,
			Advice: "Install the CRD, with spec.group: " + contract.Group + ".",
			run: func(_ context.Context, e *env) (finding, error) {
				return answer(missingDefinition(e.definitions, e.options.Kind))
			},
		},
		{
			ID: idEstablished, Rule: "C1", Level: Required,
			Title:  "The API server serves the kind",
			Advice: "See the conditions of the CRD: `kubectl get crd NAME -o yaml`. Names that another CRD of the group has already are not accepted.",
			needs:  []string{idGroup},
			run: func(_ context.Context, e *env) (finding, error) {
				return answer(notServed(e.definition(), e.options.APIVersion))
			},
		},
		perDefinition(Check{
			ID: idNamespaced, Rule: "C2", Level: Required,
			Title:  "The kind is namespaced",
			Advice: "Set spec.scope: Namespaced in the CRD. The scope of a CRD cannot be changed: delete it and make it anew.",
		}, notNamespaced),
		perVersion(Check{
			ID: idSubresource, Rule: "C3", Level: Required,
			Title:  "Every served version enables the status subresource",
			Advice: "Add `subresources: {status: {}}` to the version in the CRD.",
		}, noStatusSubresource),
	}
}

// adviceDeclare is what to do about a field that is not kept.
const adviceDeclare = "Declare it in the schema's status: %s. What is not declared is pruned, and no error tells the provider."

func schemaChecks() []Check {
	return []Check{
		perVersion(Check{
			ID: "crd-active-boolean", Rule: "C4", Level: Required,
			Title:  "Every served version declares status.active as a boolean",
			Advice: "Declare `active: {type: boolean}` in the properties of the schema's status.",
		}, activeIsNoBoolean),
		perVersion(Check{
			ID: idNoDefault, Rule: "C5", Level: Required,
			Title:  "No schema gives status.active a default",
			Advice: "Take the default out of the schema, of status.active and of what it is in.",
		}, activeHasDefault),
		perVersion(Check{
			ID: "crd-conditions", Rule: "C7", Level: Recommended,
			Title:  "Every served version keeps the Ready condition",
			Advice: fmt.Sprintf(adviceDeclare, "`conditions`, a list of objects with the strings type, status, reason, message and lastTransitionTime"),
		}, conditionsPruned),
		perVersion(Check{
			ID: "crd-observed-generation", Rule: "C8", Level: Recommended,
			Title:  "Every served version keeps status.observedGeneration",
			Advice: fmt.Sprintf(adviceDeclare, "`observedGeneration: {type: integer, format: int64}`"),
		}, observedGenerationPruned),
		perVersion(Check{
			ID: "crd-transition-time", Rule: "C9", Level: Recommended,
			Title:  "Every served version keeps status.lastTransitionTime",
			Advice: fmt.Sprintf(adviceDeclare, "`lastTransitionTime: {type: string, format: date-time}`"),
		}, transitionTimePruned),
		perVersion(Check{
			ID: "crd-printer-column", Rule: "C28", Level: Recommended,
			Title:  "`kubectl get` shows the verdict",
			Advice: "Add `{name: Active, type: boolean, jsonPath: .status.active}` to additionalPrinterColumns of the version.",
		}, noActiveColumn),
	}
}

// answer passes when nothing is wrong.
func answer(wrong string) (finding, error) {
	if wrong != "" {
		return fail("%s", wrong)
	}
	return pass("")
}

// perDefinition completes a check by a function that says what is wrong with the definition.
func perDefinition(check Check, wrong func(*apiextensionsv1.CustomResourceDefinition) string) Check {
	check.needs = []string{idGroup}
	check.run = func(_ context.Context, e *env) (finding, error) { return answer(wrong(e.definition())) }
	return check
}

// perVersion completes a check by a function that says what is wrong with a
// version. Where none is served, that is a finding of another check.
func perVersion(check Check, wrong func(*apiextensionsv1.CustomResourceDefinitionVersion) string) Check {
	check = perDefinition(check, func(definition *apiextensionsv1.CustomResourceDefinition) string {
		var all []string
		for _, v := range definition.Spec.Versions {
			if !v.Served {
				continue
			}
			if text := wrong(&v); text != "" {
				all = append(all, v.Name+": "+text)
			}
		}
		return strings.Join(all, "; ")
	})
	ofVersions := check.run
	check.run = func(ctx context.Context, e *env) (finding, error) {
		if len(servedVersions(e.definition())) == 0 {
			return skip(noneServed)
		}
		return ofVersions(ctx, e)
	}
	return check
}

const noneServed = "no version of the CRD is served"

func missingDefinition(definitions []apiextensionsv1.CustomResourceDefinition, kind string) string {
	var elsewhere []string
	for _, definition := range definitions {
		if definition.Spec.Names.Kind != kind {
			continue
		}
		if definition.Spec.Group == contract.Group {
			return ""
		}
		elsewhere = append(elsewhere, definition.Spec.Group)
	}
	if len(elsewhere) > 0 {
		return fmt.Sprintf("%s is in the group %s", kind, strings.Join(elsewhere, ", "))
	}
	return "there is no CRD with the kind " + kind
}

func notServed(definition *apiextensionsv1.CustomResourceDefinition, wanted string) string {
	served := servedVersions(definition)
	wanted = wanted[strings.LastIndex(wanted, "/")+1:]
	switch {
	case len(served) == 0:
		return noneServed
	case wanted != "" && !slices.Contains(served, wanted):
		return fmt.Sprintf("the version %s is not served; served: %s", wanted, strings.Join(served, ", "))
	}
	established := false
	for _, condition := range definition.Status.Conditions {
		switch {
		case condition.Type == apiextensionsv1.Established:
			established = condition.Status == apiextensionsv1.ConditionTrue
		case condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse,
			condition.Type == apiextensionsv1.NonStructuralSchema && condition.Status == apiextensionsv1.ConditionTrue:
			return fmt.Sprintf("the CRD has the condition %s=%s: %s", condition.Type, condition.Status, condition.Message)
		}
	}
	if !established {
		return "the CRD is not established"
	}
	return ""
}

func notNamespaced(definition *apiextensionsv1.CustomResourceDefinition) string {
	if definition.Spec.Scope != apiextensionsv1.NamespaceScoped {
		return fmt.Sprintf("the scope is %s", definition.Spec.Scope)
	}
	return ""
}

func noStatusSubresource(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if v.Subresources == nil || v.Subresources.Status == nil {
		return "there is no status subresource"
	}
	return ""
}

func noActiveColumn(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	wrong := "no printer column shows .status.active"
	for _, column := range v.AdditionalPrinterColumns {
		switch {
		case strings.TrimPrefix(column.JSONPath, "$") != ".status.active":
		case !strings.EqualFold(column.Name, "Active"):
			wrong = fmt.Sprintf("the printer column for .status.active is %s, not Active", column.Name)
		case column.Priority > 0:
			wrong = fmt.Sprintf("the printer column for .status.active is left out without -o wide: its priority is %d, not 0", column.Priority)
		default:
			return ""
		}
	}
	return wrong
}
