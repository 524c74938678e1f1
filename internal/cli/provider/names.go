// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fivespot/fivespot/api/contract"
)

// names are what a kind, and what belongs to it, is called.
type names struct {
	Kind      string // TideSchedule
	Plural    string // tideschedules
	Singular  string // tideschedule
	ShortName string // ts; empty for none
	Version   string // v1alpha1
	Words     string // tide-schedule
}

// Group returns the API group of the kind.
func (names) Group() string { return contract.Group }

// Program returns what the provider, its account and its rights are called.
func (n names) Program() string { return n.Words + "-provider" }

// DefinitionName returns the name of the CustomResourceDefinition.
func (n names) DefinitionName() string { return n.Plural + "." + contract.Group }

// chosen are names that an author gave instead of the derived ones; empty
// ones are derived.
type chosen struct {
	plural    string
	shortName string
	version   string
}

var (
	camelCase = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	kebabCase = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
)

// deriveNames returns the names of a kind that is given in CamelCase, or in
// words with hyphens between them.
func deriveNames(name string, own chosen) (names, error) {
	kind := name
	if kebabCase.MatchString(name) {
		kind = camel(name)
	}
	if !camelCase.MatchString(kind) {
		return names{}, fmt.Errorf("%q is no name of a kind: give it in CamelCase, as in TideSchedule, or in words, as in tide-schedule", name)
	}
	n := names{
		Kind:      kind,
		Singular:  strings.ToLower(kind),
		Plural:    own.plural,
		ShortName: own.shortName,
		Version:   own.version,
		Words:     strings.ToLower(strings.Join(words(kind), "-")),
	}
	if n.Plural == "" {
		n.Plural = pluralOf(n.Singular)
	}
	if n.Version == "" {
		n.Version = "v1alpha1"
	}
	shipped, err := shippedNames()
	if err != nil {
		return names{}, err
	}
	if n.ShortName == "" {
		n.ShortName = shortNameOf(kind, shipped)
	}
	if err := n.check(); err != nil {
		return names{}, err
	}
	return n, n.checkAgainst(shipped)
}

// checkAgainst says which name another kind has. Within the group an API server
// would not serve the second one; beside it kubectl would take it for the first.
func (n names) checkAgainst(shipped []names) error {
	for _, other := range shipped {
		for _, one := range []struct{ what, name, taken string }{
			{"kind", n.Kind, other.Kind},
			{"plural", n.Plural, other.Plural},
			{"short name", n.ShortName, other.ShortName},
		} {
			if one.name != "" && one.name == one.taken {
				return fmt.Errorf("the %s %s is taken by %s of 5-Spot: choose another one", one.what, one.name, other.Kind)
			}
		}
	}
	if slices.Contains(takenShortNames, n.ShortName) {
		return fmt.Errorf("the short name %s is taken by a kind of Kubernetes or Cluster API: choose another one", n.ShortName)
	}
	return nil
}

// check says which name an API server would refuse.
func (n names) check() error {
	if strings.HasSuffix(n.Kind, "List") {
		return fmt.Errorf("%s would be taken for a list of objects: choose a kind that does not end in List", n.Kind)
	}
	for _, one := range []struct{ what, name string }{
		{"plural", n.Plural},
		{"singular", n.Singular},
		{"short name", n.ShortName},
		{"version", n.Version},
		{"name of the provider", n.Program()},
	} {
		if one.name == "" {
			continue
		}
		if faults := validation.IsDNS1035Label(one.name); len(faults) > 0 {
			return fmt.Errorf("the %s %q is refused by Kubernetes: %s", one.what, one.name, strings.Join(faults, "; "))
		}
	}
	return nil
}

// camel makes a kind of words: TideSchedule of tide-schedule.
func camel(kebab string) string {
	var kind strings.Builder
	for word := range strings.SplitSeq(kebab, "-") {
		kind.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return kind.String()
}

// words takes a kind apart where a capital begins a word: Prom, QL, Schedule.
func words(kind string) []string {
	var found []string
	begin := 0
	for i := 1; i < len(kind); i++ {
		here, before := rune(kind[i]), rune(kind[i-1])
		beginsAfterLower := unicode.IsUpper(here) && !unicode.IsUpper(before)
		endsAcronym := unicode.IsUpper(here) && i+1 < len(kind) && unicode.IsLower(rune(kind[i+1]))
		if beginsAfterLower || endsAcronym {
			found = append(found, kind[begin:i])
			begin = i
		}
	}
	return append(found, kind[begin:])
}

// pluralOf forms the regular English plural.
func pluralOf(singular string) string {
	vowelAndY := regexp.MustCompile(`[aeiou]y$`).MatchString(singular)
	switch {
	case regexp.MustCompile(`(s|x|z|ch|sh)$`).MatchString(singular):
		return singular + "es"
	case strings.HasSuffix(singular, "y") && !vowelAndY:
		return strings.TrimSuffix(singular, "y") + "ies"
	}
	return singular + "s"
}

// takenShortNames are those of Kubernetes itself and of Cluster API; kubectl
// would not take another kind by them.
var takenShortNames = strings.Fields(`
	cj cm crd crds cs csr deploy ds ep ev hpa ing limits netpol no ns pc pdb po psp pv pvc quota rc rs sa sc sts svc vac
	cc cl ext kcp ma md mhc mhcs mp ms`)

// shortNameOf returns the initials of the words of a kind, or nothing where
// those are taken or a single letter.
func shortNameOf(kind string, shipped []names) string {
	var initials strings.Builder
	for _, word := range words(kind) {
		initials.WriteString(strings.ToLower(word[:1]))
	}
	short := initials.String()
	taken := slices.Contains(takenShortNames, short) ||
		slices.ContainsFunc(shipped, func(other names) bool { return other.ShortName == short })
	if taken || len(short) < 2 {
		return ""
	}
	return short
}
