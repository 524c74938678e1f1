// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
)

// Level says what a failed check means.
type Level string

const (
	// Required: a provider that fails it does not conform.
	Required Level = "required"
	// Recommended: a provider that fails it conforms and can be better.
	Recommended Level = "recommended"
)

// Check is one thing that the kit looks at.
type Check struct {
	// ID names the check, in kebab-case. An ID is never given another meaning.
	ID string
	// Group is the part of the kit that the check belongs to.
	Group Group
	// Rule is the rule of docs/contract.md that it checks, "C4" for example.
	Rule string
	// Level says what a failure means.
	Level Level
	// Title says what has to hold.
	Title string
	// Advice says what to do about a failure.
	Advice string

	// needs are the checks while one of which fails this one says nothing. What
	// they need in turn counts as well.
	needs []string
	// uses are what the options have to give.
	uses []given
	// run looks. An error is the kit's own trouble, see weigh.
	run func(context.Context, *env) (finding, error)
}

// Group is a part of the kit.
type Group string

// The parts of the kit, in the order in which they are run.
const (
	GroupDefinition Group = "definition"
	GroupAccount    Group = "account"
	GroupBehaviour  Group = "behaviour"
	GroupFiveSpot   Group = "5-spot"
)

// title is the heading of a group.
func (g Group) title() string {
	switch g {
	case GroupDefinition:
		return "The CustomResourceDefinition"
	case GroupAccount:
		return "The provider's account"
	case GroupBehaviour:
		return "The provider's behaviour"
	case GroupFiveSpot:
		return "5-Spot's side"
	}
	return string(g)
}

// contractURL is where the rules are written.
const contractURL = "https://github.com/fivespot/fivespot/blob/main/docs/contract.md"

// Link returns the address of the rule.
func (c *Check) Link() string { return ruleLink(c.Rule) }

// Checks returns every check, in the order in which they are run.
func Checks() []Check {
	return slices.Concat(definitionChecks(), accountChecks(), behaviourChecks(), fiveSpotChecks())
}

// find returns the check with an id; nil if there is none.
func find(id string) *Check {
	for _, check := range Checks() {
		if check.ID == id {
			return &check
		}
	}
	return nil
}

// finding is what a check saw.
type finding struct {
	outcome Outcome
	message string
}

// pass says that what has to hold does; the message may add how.
func pass(format string, args ...any) (finding, error) {
	return finding{outcome: Passed, message: fmt.Sprintf(format, args...)}, nil
}

// fail says what was seen instead.
func fail(format string, args ...any) (finding, error) {
	return finding{outcome: Failed, message: fmt.Sprintf(format, args...)}, nil
}

// skip says why it was not looked at, and what to do to have it looked at.
func skip(format string, args ...any) (finding, error) {
	return finding{outcome: Skipped, message: fmt.Sprintf(format, args...)}, nil
}

// given is a thing that the options may lack.
type given string

// Each with what to say when it is missing.
const (
	givenOn      given = "give a manifest that is active now, by --apply (Options.On)"
	givenOff     given = "give a manifest that is inactive now, by --apply-off (Options.Off)"
	givenInvalid given = "give a manifest that the provider cannot decide about, by --apply-invalid (Options.Invalid)"
	givenAccount given = "name the provider's account, by --service-account NAMESPACE/NAME (Options.ServiceAccount)"
	givenRestart given = "say how to restart the provider, by --pod-selector or --restart-command (Options.Restart)"
)

// has reports whether the options give it.
func (o *Options) has(thing given) bool {
	switch thing {
	case givenOn:
		return len(o.On) > 0
	case givenOff:
		return len(o.Off) > 0
	case givenInvalid:
		return len(o.Invalid) > 0
	case givenAccount:
		return o.ServiceAccount.Name != ""
	case givenRestart:
		return o.Restart != nil
	}
	return false
}
