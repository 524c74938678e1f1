// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/internal/cli"
)

const manifestsLong = `Prints what a provider has to have installed, whatever it is written in: the
CustomResourceDefinition of its kind, and an account that may read the kind and write
its status, and nothing else.

The spec takes any fields unless their schema is given.`

const manifestsExample = `  fivespot provider manifests --kind TideSchedule | kubectl apply --server-side -f -
  fivespot provider manifests --kind TideSchedule --spec-schema spec.yaml --service-account tides/provider`

type manifestsOptions struct {
	own        chosen
	kind       string
	account    string
	schemaFile string
}

func newManifestsCommand(streams cli.Streams) *cobra.Command {
	var o manifestsOptions
	command := &cobra.Command{
		Use:     "manifests --kind KIND",
		Short:   "Print the CRD and the RBAC of a schedule kind",
		Long:    manifestsLong,
		Example: manifestsExample,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return printManifests(streams, o) },
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.kind, "kind", "", "the kind, as TideSchedule or as tide-schedule (required)")
	flags.StringVar(&o.own.plural, "plural", "", "plural of the kind (default: the regular one)")
	flags.StringVar(&o.own.shortName, "short-name", "", "short name of the kind (default: its initials, where they are free)")
	flags.StringVar(&o.own.version, "version", "v1alpha1", "version of the kind")
	flags.StringVar(&o.account, "service-account", "", "account that the provider runs as, NAMESPACE/NAME (default: "+defaultNamespace+"/KIND-provider, the kind in words)")
	flags.StringVar(&o.schemaFile, "spec-schema", "", "file with the OpenAPI v3 schema of the field spec, YAML or JSON; - is standard input (default: any fields)")
	return command
}

func printManifests(streams cli.Streams, o manifestsOptions) error {
	if o.kind == "" {
		return errors.New("name the kind with --kind, as in --kind TideSchedule")
	}
	n, err := deriveNames(o.kind, o.own)
	if err != nil {
		return err
	}
	namespace, account, err := splitAccount(o.account, n)
	if err != nil {
		return err
	}
	spec, err := readSpecSchema(streams.In, o.schemaFile)
	if err != nil {
		return err
	}
	spec.description = n.Kind + " is a schedule of 5-Spot."
	crd, err := newDefinition(n, spec)
	if err != nil {
		return err
	}
	crd.SetAnnotations(nil)
	definition, err := yaml.Marshal(crd.Object)
	if err != nil {
		return err
	}
	text, err := templates.ReadFile("templates/deploy/rbac.yaml" + suffix)
	if err != nil {
		return err
	}
	rbac, err := render("rbac.yaml", string(text), accountData{n, namespace, account})
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, "%s---\n%s", definition, rbac)
	return nil
}

// accountData is what the RBAC of a provider is made of.
type accountData struct {
	names
	Namespace string
	Account   string
}

// splitAccount reads NAMESPACE/NAME, or says who a provider is by default.
func splitAccount(account string, n names) (namespace, name string, err error) {
	if account == "" {
		return defaultNamespace, n.Program(), nil
	}
	namespace, name, _ = strings.Cut(account, "/")
	faults := append(validation.IsDNS1123Label(namespace), validation.IsDNS1123Subdomain(name)...)
	if len(faults) > 0 {
		return "", "", fmt.Errorf("--service-account %q: give NAMESPACE/NAME: %s", account, strings.Join(faults, "; "))
	}
	return namespace, name, nil
}

// readSpecSchema reads the schema of the spec; without a file, of any spec.
func readSpecSchema(in io.Reader, file string) (specSchema, error) {
	if file == "" {
		return specSchema{properties: map[string]any{
			"description":                          "Whatever the provider reads.",
			"type":                                 "object",
			"x-kubernetes-preserve-unknown-fields": true,
		}}, nil
	}
	read := func() ([]byte, error) { return os.ReadFile(file) }
	if file == "-" {
		read = func() ([]byte, error) { return io.ReadAll(in) }
	}
	text, err := read()
	if err != nil {
		return specSchema{}, fmt.Errorf("reading the schema of the spec: %w", err)
	}
	spec := specSchema{required: true}
	if err := yaml.UnmarshalStrict(text, &spec.properties); err != nil {
		return specSchema{}, fmt.Errorf("reading %s: %w", file, err)
	}
	if err := checkSchema(text); err != nil {
		return specSchema{}, fmt.Errorf("%s: %w", file, err)
	}
	return spec, nil
}
