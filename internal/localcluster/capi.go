// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/cert"

	"github.com/fivespot/fivespot/internal/process"
)

// A manager is one of Cluster API's managers.
type manager struct {
	part      string // name of the part
	program   string // below Options.Binaries
	namespace string // where it would run in a cluster
	pod       string
}

var managers = []manager{
	{PartCore, "capi/core", "capi-system", "capi-controller-manager"},
	{PartBootstrap, "capi/kubeadm-bootstrap", "capi-kubeadm-bootstrap-system", "capi-kubeadm-bootstrap-controller-manager"},
	{PartKubeadmControlPlane, "capi/kubeadm-control-plane", "capi-kubeadm-control-plane-system", "capi-kubeadm-control-plane-controller-manager"},
	{PartInfrastructure, "capi/docker", "capd-system", "capd-controller-manager"},
}

// startManagers installs Cluster API's definitions and starts its managers, all
// at once since none needs another to become ready.
func (c *Cluster) startManagers(ctx context.Context) error {
	definitions, err := readManifests(filepath.Join(c.options.Binaries, "capi", "crds"))
	if err != nil {
		return fmt.Errorf("reading Cluster API's definitions: %w", err)
	}
	if err := c.timed("Cluster API CRDs", fmt.Sprintf("%d definitions", len(definitions)), func() error {
		return apply(ctx, c.client, definitions)
	}); err != nil {
		return err
	}
	if err := c.files.ensureCertificate(); err != nil {
		return err
	}
	parts := make([]*Part, len(managers))
	for i, m := range managers {
		if parts[i], err = c.newManager(m); err != nil {
			return err
		}
	}
	return c.startTogether(ctx, parts)
}

func (c *Cluster) startTogether(ctx context.Context, parts []*Part) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range parts {
		group.Go(func() error { return c.startPart(ctx, part, "") })
	}
	return group.Wait()
}

func (c *Cluster) newManager(m manager) (*Part, error) {
	addresses, err := c.ports.pickAddresses(2)
	if err != nil {
		return nil, err
	}
	health, diagnostics := addresses[0], addresses[1]
	webhook, err := c.ports.pick()
	if err != nil {
		return nil, err
	}
	part := c.newProcess(process.Options{
		Name: m.part,
		Path: filepath.Join(c.options.Binaries, m.program),
		Args: []string{
			"--kubeconfig=" + c.kubeconfig,
			"--health-addr=" + health,
			"--diagnostics-address=" + diagnostics,
			"--insecure-diagnostics", // plain HTTP for a look at the metrics; loopback only
			fmt.Sprintf("--webhook-port=%d", webhook),
			"--webhook-cert-dir=" + c.files.certificates(),
			// Without the rate limit of one reconcile a second for each object.
			"--feature-gates=MachinePool=false,ReconcilerRateLimiting=false",
			// There is no older data that could need it.
			"--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
		},
		Env: []string{
			"POD_NAMESPACE=" + m.namespace,
			"POD_NAME=" + m.pod,
			"POD_UID=" + m.pod,
			"POD_IP=127.0.0.1", // the in-memory workload clusters listen there
		},
		Log:   c.files.log(filepath.Base(m.program)),
		Ready: process.HTTPReady("http://" + health + "/readyz"),
	})
	// It holds no lease. One that gives a workload cluster up while it is told to end
	// waits for good to tell controllers of that, which have ended before.
	part.abrupt = true
	return part, nil
}

// ensureCertificate makes the certificate without which the webhook servers of
// the managers do not start. Nobody calls them: no webhook is registered.
func (l layout) ensureCertificate() error {
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		return fmt.Errorf("making a certificate for the webhook servers: %w", err)
	}
	if err := os.MkdirAll(l.certificates(), 0o700); err != nil {
		return fmt.Errorf("making the directory of the webhook certificate: %w", err)
	}
	if err := replaceFile(filepath.Join(l.certificates(), "tls.crt"), certificate); err != nil {
		return fmt.Errorf("writing the webhook certificate: %w", err)
	}
	if err := replaceFile(filepath.Join(l.certificates(), "tls.key"), key); err != nil {
		return fmt.Errorf("writing the key of the webhook certificate: %w", err)
	}
	return nil
}
