// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

// flags are what the command line says.
type flags struct {
	kind, apiVersion            string
	on, off, invalid            string
	account                     string
	mayRead                     []string
	restartCommand, podSelector string
	namespace                   string
	kubeconfig, context         string
	reactWithin                 time.Duration
	idleFor                     time.Duration
	patience                    time.Duration
	objects                     int
	only, skip                  []string
	strict, allowIncomplete     bool
	output, results             string
	list                        bool
}

// flagOf names the flag of an option of the kit.
var flagOf = map[string]string{
	"Kind":           "kind",
	"APIVersion":     "api-version",
	"On":             "apply",
	"Off":            "apply-off",
	"Invalid":        "apply-invalid",
	"ServiceAccount": "service-account",
	"MayRead":        "may-read",
	"Restart":        "pod-selector",
	"Namespace":      "namespace",
	"Only":           "only",
	"Skip":           "skip",
	"Objects":        "objects",

	"ReactWithin, IdleFor and Patience": "react-within, --idle-for and --patience",
}

func (f *flags) add(set *pflag.FlagSet) {
	set.StringVar(&f.kind, "kind", "", "kind of the provider, for example ManualSchedule (required)")
	set.StringVar(&f.apiVersion, "api-version", "", "version of the kind to work with (default: that of the manifests, else the first that is served)")
	set.StringVar(&f.on, "apply", "", "manifest with an object of the kind that is active now")
	set.StringVar(&f.off, "apply-off", "", "manifest with an object of the kind that is inactive now")
	set.StringVar(&f.invalid, "apply-invalid", "", "manifest with an object of the kind that the provider cannot decide about")
	set.StringVar(&f.account, "service-account", "", "service account of the provider, NAMESPACE/NAME")
	set.StringSliceVar(&f.mayRead, "may-read", nil, "resource that the account may read beside its kind, RESOURCE or RESOURCE.GROUP; more may follow")
	set.StringVar(&f.podSelector, "pod-selector", "", "label selector of the provider's pods, in the namespace of --service-account: deleted to restart it")
	set.StringVar(&f.restartCommand, "restart-command", "", "shell command that restarts the provider and returns when the old process has ended")
	set.StringVar(&f.namespace, "namespace", "", "namespace to work in, which exists (default: temporary ones)")
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, else ~/.kube/config)")
	set.StringVar(&f.context, "context", "", "context of the kubeconfig file (default: the current one)")
	set.DurationVar(&f.reactWithin, "react-within", 2*time.Second, "time in which an edit is to be followed")
	set.DurationVar(&f.idleFor, "idle-for", time.Minute, "time in which nothing is to be written while nobody edits, at least; less than 30s show no slow poll")
	set.DurationVar(&f.patience, "patience", time.Minute, "how long to wait for what has to come")
	set.IntVar(&f.objects, "objects", 200, "how many objects to make at once, 20 or more")
	set.StringSliceVar(&f.only, "only", nil, "ids of the checks to run, with those that they rest on (default: all)")
	set.StringSliceVar(&f.skip, "skip", nil, "ids of checks to leave out")
	set.BoolVar(&f.strict, "strict", false, "fail if a recommended check fails")
	set.BoolVar(&f.allowIncomplete, "allow-incomplete", false, "pass though required checks were skipped")
	set.StringVarP(&f.output, "output", "o", outputText, "what to print: text, json or junit")
	set.StringVar(&f.results, "results", "", "file to write the results to, in JSON; fit to be published")
	set.BoolVar(&f.list, "list", false, "print the checks and run none")
}

// options turns the flags into options of the kit.
func (f *flags) options(streams cli.Streams) (conformance.Options, error) {
	o := conformance.Options{
		Kind: f.kind, APIVersion: f.apiVersion, MayRead: f.mayRead, Namespace: f.namespace,
		ReactWithin: f.reactWithin, IdleFor: f.idleFor, Patience: f.patience, Objects: f.objects,
		Only: f.only, Skip: f.skip, Strict: f.strict, AllowIncomplete: f.allowIncomplete,
	}
	if f.kind == "" {
		return o, errors.New("--kind is missing: name the kind of the provider, ManualSchedule for example")
	}
	for _, manifest := range []struct {
		flag, path string
		into       *[]byte
	}{
		{"apply", f.on, &o.On},
		{"apply-off", f.off, &o.Off},
		{"apply-invalid", f.invalid, &o.Invalid},
	} {
		if manifest.path == "" {
			continue
		}
		content, err := os.ReadFile(manifest.path)
		if err != nil {
			return o, fmt.Errorf("--%s: %w", manifest.flag, err)
		}
		*manifest.into = content
	}
	if _, err := os.Stat(filepath.Dir(f.results)); f.results != "" && err != nil {
		return o, fmt.Errorf("--results: %w", err) // now, rather than when all is done
	}
	var err error
	if o.ServiceAccount, err = f.serviceAccount(); err != nil {
		return o, err
	}
	if o.Config, err = f.config(); err != nil {
		return o, err
	}
	return o, f.restart(&o, streams)
}

func (f *flags) serviceAccount() (types.NamespacedName, error) {
	if f.account == "" {
		return types.NamespacedName{}, nil
	}
	namespace, name, both := strings.Cut(f.account, "/")
	if !both || namespace == "" || name == "" {
		return types.NamespacedName{}, fmt.Errorf("--service-account: %q is not NAMESPACE/NAME", f.account)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

func (f *flags) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w (name a kubeconfig file by --kubeconfig, and a context of it by --context)", err)
	}
	return config, nil
}

func (f *flags) restart(o *conformance.Options, streams cli.Streams) error {
	switch {
	case f.podSelector != "" && f.restartCommand != "":
		return errors.New("--pod-selector and --restart-command exclude each other")
	case f.podSelector != "" && f.account == "":
		return errors.New("--pod-selector takes --service-account, whose namespace the pods are in")
	case f.podSelector != "":
		o.Restart = conformance.RestartPods(o.Config, o.ServiceAccount.Namespace, f.podSelector)
	case f.restartCommand != "":
		o.Restart = conformance.RestartCommand(streams.Err, "sh", "-c", f.restartCommand)
	}
	return nil
}
