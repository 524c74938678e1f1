// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/internal/process"
)

// systemNamespace is where deploy/ puts our service accounts.
const systemNamespace = "5spot-system"

// An own part is one of our programs.
type own struct {
	part    string
	program string
	args    []string
	account types.NamespacedName
	log     string
}

// ours lists our programs in the order in which they start.
func (c *Cluster) ours() []own {
	var list []own
	if !c.options.WithoutController {
		list = append(list, own{
			part:    PartController,
			program: "controller",
			args:    c.options.ControllerArgs,
			account: types.NamespacedName{Namespace: systemNamespace, Name: "5spot-controller"},
			log:     "controller",
		})
	}
	if c.options.WithoutProviders {
		return list
	}
	return append(list,
		provider(PartManualSchedule, "ManualSchedule", "manual"),
		provider(PartTimeBased, "TimeBasedSpotSchedule", "time-based"),
		provider(PartCapitalMarkets, "CapitalMarketsSchedule", "capital-markets"),
	)
}

// provider is the program that runs a shipped kind, under the name that the
// kind has in deploy/spot-schedule-providers.
func provider(part, kind, name string) own {
	account := name + "-schedule-provider"
	return own{
		part:    part,
		program: "provider",
		args:    []string{"--kinds=" + kind},
		account: types.NamespacedName{Namespace: systemNamespace, Name: account},
		log:     account,
	}
}

func (c *Cluster) newOurs(ctx context.Context, o own) (*Part, error) {
	if err := checkBinaries(c.options.Binaries, o.program); err != nil {
		return nil, err
	}
	kubeconfig, err := c.accounts.issue(ctx, c.life, o.account)
	if err != nil {
		return nil, err
	}
	addresses, err := c.ports.pickAddresses(2)
	if err != nil {
		return nil, err
	}
	metrics, health := addresses[0], addresses[1]
	part := c.newProcess(process.Options{
		Name: o.part,
		Path: filepath.Join(c.options.Binaries, o.program),
		Args: append([]string{
			"--kubeconfig=" + kubeconfig,
			"--metrics-bind-address=" + metrics,
			"--health-probe-bind-address=" + health,
		}, o.args...),
		Log:   c.files.log(o.log),
		Ready: process.HTTPReady("http://" + health + "/readyz"),
	})
	part.metrics = "http://" + metrics + "/metrics"
	return part, nil
}
