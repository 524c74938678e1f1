// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// TestAControllerKilledAtRandomMomentsBreaksNoRule kills the controller during
// fifty flips of the toggle, each time after a random number of its own
// requests, and then checks the rules by what the API server saw.
func TestAControllerKilledAtRandomMomentsBreaksNoRule(t *testing.T) {
	const flips, seed = 50, 5
	random := rand.New(rand.NewPCG(seed, seed))
	toggle(t, localcluster.Namespace, "killed", false)
	sm := machine(t, localcluster.Namespace, "killed", "killed")
	awaitPhase(t, sm, v1beta1.PhaseInactive)
	changes := countChanges(t, sm)
	reader := audit(t)
	var log []devplane.AuditEvent

	on := false
	for range flips {
		on = !on
		toggle(t, localcluster.Namespace, "killed", on)
		requests := 1 + random.IntN(6)
		log = append(log, killAfter(t, reader, sm, on, requests)...)
		if random.IntN(2) == 0 {
			settle(t, sm, on)
		}
	}
	settle(t, sm, on)
	log = append(log, readAudit(t, reader)...)

	checkEndState(t, sm, on)
	checkMachinesComeAndGoInTurn(t, log)
	checkNobodyWritesWhatIsNotTheirs(t, log)
	// Every write of the status that succeeded changed the object.
	writes := 0
	for _, event := range log {
		if ours(event) && event.Resource == "scheduledmachines" && event.Verb == "patch" && event.Code == 200 {
			writes++
		}
	}
	changes.checkAtLeast(t, writes)
}

// killAfter kills the controller after it has made a number of requests since
// the flip, or once there is nothing more for it to do, and starts it again.
func killAfter(t *testing.T, reader *devplane.AuditReader, sm *v1beta1.ScheduledMachine, on bool, requests int) []devplane.AuditEvent {
	t.Helper()
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	var settled sync.WaitGroup
	settled.Go(func() {
		state := sm.DeepCopy()
		if await.Object(ctx, localclustertest.Cluster(t).Client(), state, func() error { return isSettled(state, on) }) == nil {
			cancel()
		}
	})
	seen := 0
	log, _ := reader.Await(ctx, func(e devplane.AuditEvent) bool {
		if e.User == controllerUser && finished(e) && e.Verb != "watch" {
			seen++
		}
		return seen >= requests
	})
	cancel()
	settled.Wait()
	controller := localclustertest.Cluster(t).Part(localcluster.PartController)
	if err := controller.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := controller.Start(deadline(t)); err != nil {
		t.Fatal(err)
	}
	return log
}

func isSettled(sm *v1beta1.ScheduledMachine, on bool) error {
	want := v1beta1.PhaseInactive
	if on {
		want = v1beta1.PhaseActive
	}
	if sm.Status.Phase != want || sm.Status.InSchedule != on {
		return fmt.Errorf("phase is %q, want %q: %s", sm.Status.Phase, want, sm.Status.Message)
	}
	return nil
}

func settle(t *testing.T, sm *v1beta1.ScheduledMachine, on bool) {
	t.Helper()
	if err := await.Object(deadline(t), localclustertest.Cluster(t).Client(), sm, func() error { return isSettled(sm, on) }); err != nil {
		t.Fatal(err)
	}
}

func checkEndState(t *testing.T, sm *v1beta1.ScheduledMachine, on bool) {
	t.Helper()
	exists := false
	for key := range everything(t, sm.Namespace) {
		exists = exists || key == "cluster.x-k8s.io/machines/"+sm.Name
	}
	if exists != on {
		t.Errorf("a Machine exists: %v; the toggle is on: %v", exists, on)
	}
}

// checkMachinesComeAndGoInTurn checks rules 1 and 2: a Machine is created only
// after the one before was deleted, one is deleted only after the toggle was
// flipped since, and each only after a status was written since: a verdict is
// put on record before it is acted upon.
func checkMachinesComeAndGoInTurn(t *testing.T, log []devplane.AuditEvent) {
	t.Helper()
	var machines, flips, records, created, deleted int
	for _, event := range log {
		if !finished(event) || event.Name != "killed" || !done(event) {
			continue
		}
		controller := event.User == controllerUser
		switch what := event.Verb + " " + event.Resource; {
		case what == "patch manualschedules" && event.Subresource == "":
			flips++
		case controller && what == "patch scheduledmachines" && event.Subresource == "status":
			records++
		case controller && what == "create machines" && event.Code == http.StatusCreated:
			if machines == 1 {
				t.Errorf("a second Machine was created at %s", event.StageTimestamp)
			}
			if records == 0 {
				t.Errorf("a Machine was created at %s, and no status written since the last deletion", event.StageTimestamp)
			}
			machines, records = 1, 0
			created++
		case controller && what == "delete machines":
			if machines == 1 && (flips == 0 || records == 0) {
				t.Errorf("the Machine was deleted at %s after %d flips and %d statuses since its creation", event.StageTimestamp, flips, records)
			}
			machines, flips, records = 0, 0, 0
			deleted++
		}
	}
	if created < 5 || deleted < 5 {
		t.Errorf("%d Machines were created and %d deleted: too little happened to tell anything", created, deleted)
	}
}

// done reports whether a request took effect or may have: the API server notes
// a timeout where the client was killed before it had its answer.
func done(e devplane.AuditEvent) bool { return e.Code < 300 || e.Code == http.StatusGatewayTimeout }

// checkNobodyWritesWhatIsNotTheirs checks rule 4.
func checkNobodyWritesWhatIsNotTheirs(t *testing.T, log []devplane.AuditEvent) {
	t.Helper()
	for _, event := range log {
		if !ours(event) || event.Verb == "get" || event.Verb == "list" || event.Verb == "watch" {
			continue
		}
		schedule := event.Group == "spotschedules.5spot.finos.org"
		switch {
		case event.User == controllerUser && schedule:
			t.Errorf("the controller: %s %s", event.Verb, event.URI)
		case event.User == providerUser && (!schedule || event.Resource != "manualschedules" || event.Subresource != "status"):
			t.Errorf("the provider: %s %s", event.Verb, event.URI)
		}
	}
}

// changeCounter counts the versions of an object that the API server hands out.
type changeCounter struct {
	watcher watch.Interface
	counted chan int
	object  client.Object
}

func countChanges(t *testing.T, sm *v1beta1.ScheduledMachine) *changeCounter {
	t.Helper()
	list := &v1beta1.ScheduledMachineList{}
	if err := localclustertest.Cluster(t).Client().List(t.Context(), list, client.InNamespace(sm.Namespace)); err != nil {
		t.Fatal(err)
	}
	watcher, err := localclustertest.Cluster(t).Client().Watch(t.Context(), list, client.InNamespace(sm.Namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	c := &changeCounter{watcher: watcher, counted: make(chan int, 1), object: sm}
	go func() {
		n := 0
		for event := range watcher.ResultChan() {
			if object, ok := event.Object.(client.Object); ok && event.Type == watch.Modified && object.GetName() == sm.Name {
				n++
				if object.GetAnnotations()["last"] != "" {
					break
				}
			}
		}
		c.counted <- n
	}()
	t.Cleanup(watcher.Stop)
	return c
}

// checkAtLeast checks rule 3: there were as many changes as writes, so that no
// write said what was there already.
func (c *changeCounter) checkAtLeast(t *testing.T, writes int) {
	t.Helper()
	patch(t, c.object, `{"metadata":{"annotations":{"last":"true"}}}`)
	select {
	case changes := <-c.counted:
		if changes--; changes < writes { // the annotation was one
			t.Errorf("%d writes of the ScheduledMachine and %d changes: some wrote what was there already", writes, changes)
		}
	case <-deadline(t).Done():
		t.Fatal("the watch of the ScheduledMachine does not end")
	}
}
