// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

// apiServerFlags are those of the kube-apiserver command, in its own spelling.
func apiServerFlags(o options, l layout) []string {
	return []string{
		"--v=" + strconv.Itoa(o.verbosity),
		"--etcd-servers=unix://" + etcdClientSocket,

		"--bind-address=" + o.bind.String(),
		"--advertise-address=" + o.bind.String(),
		// Endpoints may not hold a loopback address, so the Service
		// "kubernetes" has none; nothing here runs inside the cluster.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + serviceClusterIPRange,
		"--allow-privileged=true",

		"--cert-dir=" + l.path("pki"),
		"--tls-cert-file=" + l.certificate(servingPair),
		"--tls-private-key-file=" + l.key(servingPair),
		"--client-ca-file=" + l.certificate(clusterCA),
		"--requestheader-client-ca-file=" + l.certificate(frontProxyCA),
		"--requestheader-allowed-names=" + frontProxyClient,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + l.certificate(frontProxyClient),
		"--proxy-client-key-file=" + l.key(frontProxyClient),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + l.key(serviceAccountKey),
		"--service-account-signing-key-file=" + l.key(serviceAccountKey),

		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=" + strings.Join(extraAdmission, ","),
		"--disable-admission-plugins=" + strings.Join(withoutCounterpart, ","),

		"--audit-policy-file=" + l.auditPolicy(),
		"--audit-log-path=" + l.auditLog(),
		// Blocking: a line is in the file before the next request is served
		// on the same connection, so that readers need not wait for a batch.
		"--audit-log-mode=blocking",
		"--audit-log-maxsize=64", // MiB
		"--audit-log-maxbackup=8",
		"--profiling=false",
	}
}

// extraAdmission is off by default in kube-apiserver and on in most clusters
// (NodeRestriction) or on some (OwnerReferencesPermissionEnforcement, OpenShift
// for one), where a controller without the right to an owner's finalizers fails.
var extraAdmission = []string{"NodeRestriction", "OwnerReferencesPermissionEnforcement"}

// withoutCounterpart are admission plugins which add a finalizer or a taint
// that only a controller which does not run here takes away again.
var withoutCounterpart = []string{"StorageObjectInUseProtection", "PodGroupProtection", "TaintNodesByCondition"}

// serveAPI runs kube-apiserver until ctx is done or it fails.
func serveAPI(ctx context.Context, o options, l layout, listener net.Listener) error {
	s := kubeapiserver.NewServerRunOptions()
	s.SecureServing.Listener = listener
	s.SecureServing.BindPort = portOf(listener)

	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, group := range s.Flags().FlagSets {
		flags.AddFlagSet(group)
	}
	if err := flags.Parse(apiServerFlags(o, l)); err != nil {
		return fmt.Errorf("parsing the flags of kube-apiserver: %w", err)
	}
	// What follows is what the kube-apiserver command does between its flags
	// and Run.
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("setting the feature gates of kube-apiserver: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	if err := logsapi.ValidateAndApply(s.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return fmt.Errorf("configuring the log of kube-apiserver: %w", err)
	}
	completed, err := s.Complete(ctx)
	if err != nil {
		return fmt.Errorf("completing the options of kube-apiserver: %w", err)
	}
	if err := kerrors.NewAggregate(completed.Validate()); err != nil {
		return fmt.Errorf("checking the options of kube-apiserver: %w", err)
	}
	if err := app.Run(ctx, completed); err != nil {
		return fmt.Errorf("running kube-apiserver: %w", err)
	}
	return nil
}
