// SPDX-License-Identifier: Apache-2.0

package alarm_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/internal/alarm"
)

func TestAKeyBecomesAReconcileRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := clocktesting.NewFakeClock(epoch)
		q := alarm.New[types.NamespacedName](fake)
		requests := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		ctx, cancel := context.WithCancel(t.Context())
		defer func() {
			cancel()
			requests.ShutDown()
			// The queue's own clean-up loop sleeps for a while before it ends.
			<-clock.RealClock{}.After(time.Minute)
		}()
		if err := alarm.Source(q).Start(ctx, requests); err != nil {
			t.Fatalf("starting the source: %v", err)
		}
		desk := types.NamespacedName{Namespace: "trading", Name: "desk-override"}
		q.Set(desk, epoch.Add(time.Hour))
		synctest.Wait()
		if n := requests.Len(); n != 0 {
			t.Fatalf("%d requests before the instant", n)
		}
		fake.Step(time.Hour)
		synctest.Wait()
		if n := requests.Len(); n != 1 {
			t.Fatalf("%d requests at the instant, want 1", n)
		}
		request, _ := requests.Get()
		if request.NamespacedName != desk {
			t.Errorf("request for %v, want %v", request.NamespacedName, desk)
		}
	})
}
