// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/shard"
)

// TestAReplicaThatMayNotTakeAShardSaysSo gives a replica the rights on the lease of
// the first shard only. The other falls to it all the same, so nobody takes it.
func TestAReplicaThatMayNotTakeAShardSaysSo(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	devplanetest.Apply(t, fmt.Appendf(nil, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: replica, namespace: "%[1]s"}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, list, watch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, update], resourceNames: [leader, %[2]s]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: replica, namespace: "%[1]s"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: replica}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "replica-%[1]s"}
`, namespace, shard.LeaseName(0)))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: shard.LeaseName(1)}}
	if err := devplanetest.Client(t).Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	leases, err := kubernetes.NewForConfig(devplanetest.Plane(t).ImpersonatedConfig("replica-" + namespace))
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1000)
	replica, err := shard.New(shard.Options{
		Shards: 2, Namespace: namespace, Lease: "leader", Name: "replica",
		LeaseDuration: fenceLease, RenewDeadline: fenceDeadline, RetryPeriod: time.Second,
		Client: leases.CoordinationV1(), Log: funcr.New(func(_, text string) { said <- text }, funcr.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- replica.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	patience := devplanetest.Context(t)
	for {
		select {
		case text := <-said:
			if strings.Contains(text, shard.LeaseName(1)) && strings.Contains(text, "forbidden") {
				return
			}
		case <-patience.Done():
			t.Fatal("it does not say that it cannot take a shard")
		}
	}
}
