// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// env is what the checks work with. What they share is made when the first one
// asks for it.
type env struct {
	options *Options
	config  *rest.Config
	clock   clock.Clock
	client  client.WithWatch
	// discovery is for what is no object.
	discovery *discovery.DiscoveryClient
	// run tells the objects of this run from those of others.
	run string

	definitions []apiextensionsv1.CustomResourceDefinition
	samples     *samples
	spaces      []*space
	// slowest is the longest that a new object waited for its verdict so far.
	slowest time.Duration
	// idle is what the API server was asked for while nobody edited.
	idle idleRequests
}

func newEnv(o *Options) (*env, error) {
	config := rest.CopyConfig(o.Config)
	config.QPS = -1 // the API server's priority and fairness keeps us in bounds
	config.UserAgent = fieldManager
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, authorizationv1.AddToScheme, apiextensionsv1.AddToScheme, v1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("making a scheme: %w", err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &env{options: o, config: config, clock: o.Clock, client: c, discovery: d, run: rand.String(5)}, nil
}

// connect returns the version of the API server, reads the definitions and the
// samples.
func (e *env) connect(ctx context.Context) (kubernetes string, err error) {
	server, err := e.discovery.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("asking the API server for its version: %w", err)
	}
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := e.client.List(ctx, list); err != nil {
		return "", fmt.Errorf("listing CustomResourceDefinitions: %w", err)
	}
	e.definitions = list.Items
	if e.samples, err = readSamples(e.options); err != nil {
		return "", err
	}
	if e.definition() != nil {
		err = e.samples.checkGroup(contract.Group)
	}
	return server.GitVersion, err
}

// definition returns the definition of the kind in the contract's group; nil if
// there is none.
func (e *env) definition() *apiextensionsv1.CustomResourceDefinition {
	return e.definitionOf(contract.Group, e.options.Kind)
}

func (e *env) definitionOf(group, kind string) *apiextensionsv1.CustomResourceDefinition {
	for i, definition := range e.definitions {
		if definition.Spec.Group == group && definition.Spec.Names.Kind == kind {
			return &e.definitions[i]
		}
	}
	return nil
}

// kind returns the kind at the version to work with.
func (e *env) kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: contract.Group, Version: e.versions()[0], Kind: e.options.Kind}
}

// versions returns the served versions, the one to work with first.
func (e *env) versions() []string {
	served := servedVersions(e.definition())
	slices.SortStableFunc(served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	wanted := e.options.APIVersion
	if wanted == "" {
		wanted = e.samples.apiVersion()
	}
	wanted = wanted[strings.LastIndex(wanted, "/")+1:]
	if i := slices.Index(served, wanted); i > 0 {
		served = slices.Insert(slices.Delete(served, i, i+1), 0, wanted)
	}
	return served
}

func servedVersions(definition *apiextensionsv1.CustomResourceDefinition) []string {
	var served []string
	for _, v := range definition.Spec.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
	}
	return served
}

// describe adds to the report what is known of the kind.
func (e *env) describe(report *Report) {
	if e.definition() != nil {
		report.Group, report.Versions = contract.Group, e.versions()
	}
}

// cleanTime bounds the removal of what was made.
const cleanTime = 30 * time.Second

// cleanUp removes what was made, also after ctx has ended.
func (e *env) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	var errs []error
	for _, space := range e.spaces {
		errs = append(errs, space.close(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return &LeftoverError{Err: err}
	}
	return nil
}

// userName is how the API server names who asked.
var userName = regexp.MustCompile(`User "[^"]*"`)

// publishable takes out of a text what is nobody's business: the address of the
// API server, and who runs the kit.
func (e *env) publishable(text string) string {
	names := []string{e.config.Host}
	if address, err := url.Parse(e.config.Host); err == nil {
		names = append(names, address.Host, address.Hostname())
	}
	for _, name := range names {
		if name != "" {
			text = strings.ReplaceAll(text, name, "API-SERVER")
		}
	}
	return userName.ReplaceAllString(text, "the user")
}
