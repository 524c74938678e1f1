// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"flag"
	"fmt"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// DefaultLeaderElectionNamespace is where the lease of a provider is, unless
// the flag --leader-election-namespace says otherwise.
const DefaultLeaderElectionNamespace = "5spot-system"

// Settings are what a provider program is told when it is started. A program
// with flags of its own calls [Settings.BindFlags] and [Run]; others have [Main].
type Settings struct {
	// Kubeconfig is the path of the kubeconfig file to use. Empty: the file that
	// the environment variable KUBECONFIG names, else the service account of
	// the pod, else ~/.kube/config.
	Kubeconfig string
	// RESTConfig is how to reach the API server; nil means as Kubeconfig says.
	RESTConfig *rest.Config
	// MetricsBindAddress is where /metrics is served; "0" switches it off. Empty
	// means ":8080".
	MetricsBindAddress string
	// HealthProbeBindAddress is where /healthz and /readyz are served; "0"
	// switches them off. Empty means ":8081".
	HealthProbeBindAddress string
	// LeaderElect makes the program do nothing before it holds a lease, so that
	// a second copy can stand by.
	LeaderElect bool
	// LeaderElectionNamespace is the namespace of that lease. Empty means
	// [DefaultLeaderElectionNamespace].
	LeaderElectionNamespace string
	// Zap says how to log; the zero value logs JSON lines to standard error.
	Zap zap.Options
	// Logger logs instead of Zap. The zero value means Zap.
	Logger logr.Logger
}

// BindFlags adds the flags of a provider program to a set: --kubeconfig,
// --metrics-bind-address, --health-probe-bind-address, --leader-elect,
// --leader-election-namespace and --zap-*.
func (s *Settings) BindFlags(flags *flag.FlagSet) {
	flags.StringVar(&s.Kubeconfig, "kubeconfig", "",
		"Path of the kubeconfig file. Default: $KUBECONFIG, the pod's service account or ~/.kube/config.")
	flags.StringVar(&s.MetricsBindAddress, "metrics-bind-address", ":8080",
		`Address at which /metrics is served; "0" switches it off.`)
	flags.StringVar(&s.HealthProbeBindAddress, "health-probe-bind-address", ":8081",
		`Address at which /healthz and /readyz are served; "0" switches them off.`)
	flags.BoolVar(&s.LeaderElect, "leader-elect", false,
		"Take a lease before doing anything, so that other copies of the program stand by.")
	flags.StringVar(&s.LeaderElectionNamespace, "leader-election-namespace", DefaultLeaderElectionNamespace,
		"Namespace of the lease.")
	s.Zap.BindFlags(flags)
}

func (s *Settings) setDefaults() {
	if s.MetricsBindAddress == "" {
		s.MetricsBindAddress = ":8080"
	}
	if s.HealthProbeBindAddress == "" {
		s.HealthProbeBindAddress = ":8081"
	}
	if s.LeaderElectionNamespace == "" {
		s.LeaderElectionNamespace = DefaultLeaderElectionNamespace
	}
	if s.Logger.GetSink() == nil {
		if s.Zap.TimeEncoder == nil {
			s.Zap.TimeEncoder = zapcore.RFC3339NanoTimeEncoder
		}
		s.Logger = zap.New(zap.UseFlagOptions(&s.Zap))
	}
}

func (s *Settings) restConfig() (*rest.Config, error) {
	switch {
	case s.RESTConfig != nil:
		return rest.CopyConfig(s.RESTConfig), nil
	case s.Kubeconfig != "":
		config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("reading the kubeconfig file: %w", err)
		}
		return config, nil
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding an API server to talk to: %w (name a kubeconfig file with --kubeconfig)", err)
	}
	return config, nil
}
