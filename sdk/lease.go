// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/fivespot/fivespot/api/contract"
)

// renewDeadline is for how long the holder of the lease tries to renew it
// before it stops. One request for it may take half of that.
const renewDeadline = 10 * time.Second

// newLease returns the lease for which copies of a program compete. It records
// no events, for which a provider has no right.
func newLease(config *rest.Config, settings Settings, providers []*Provider) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming the holder of the lease: %w", err)
	}
	lease, err := resourcelock.NewFromKubeconfig(
		resourcelock.LeasesResourceLock,
		settings.LeaderElectionNamespace,
		leaseName(providers),
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
		config,
		renewDeadline,
	)
	if err != nil {
		return nil, fmt.Errorf("preparing the lease: %w", err)
	}
	return lease, nil
}

// leaseName names the lease after the kinds, so that programs which run
// different kinds do not compete.
func leaseName(providers []*Provider) string {
	var kinds []string
	for _, provider := range providers {
		kinds = append(kinds, strings.ToLower(provider.kind.Kind))
	}
	slices.Sort(kinds)
	name := strings.Join(kinds, ".") + "." + contract.Group
	if len(name) > validation.DNS1123SubdomainMaxLength {
		name = fmt.Sprintf("%x.%s", sha256.Sum224([]byte(name)), contract.Group)
	}
	return name
}
