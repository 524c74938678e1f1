// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fivespot/fivespot/internal/workload"
)

// Whoever stops a watch reads no more of it, and what was on the way to them must not
// wait for ever: synctest fails a test that leaves a goroutine behind.
func TestAWatchThatIsStoppedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(*testing.T) {
		source := watch.NewFake()
		filtered := workload.Filter(source)
		source.Add(&corev1.Node{})
		synctest.Wait()
		filtered.Stop()
		filtered.Stop()
	})
}

func TestAFilteredWatchEndsWithItsSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := watch.NewFake()
		filtered := workload.Filter(source)
		go source.Add(&corev1.Node{})
		if event := <-filtered.ResultChan(); event.Type != watch.Added {
			t.Errorf("got %+v", event)
		}
		source.Stop()
		if event, open := <-filtered.ResultChan(); open {
			t.Errorf("got %+v", event)
		}
		filtered.Stop()
	})
}
