// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"fmt"
	"time"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// A Machine that failed is replaced after firstReplacement, one that failed
// after it after twice that, and so on up to longestReplacement. A Machine that
// has run for wellAfter ends the count.
const (
	firstReplacement   = time.Minute
	longestReplacement = time.Hour
	wellAfter          = 10 * time.Minute
)

// machineFault is why a Machine counts as failed.
type machineFault struct{ reason, message string }

// faultOf returns why the Machine that is up counts as failed; zero if it does
// not, or there is none. If it does not yet, again is when it would.
func faultOf(sm *v1beta1.ScheduledMachine, seen *observation, now time.Time) (found machineFault, again time.Time) {
	if !seen.machine.present() || seen.machine.deleting() {
		return machineFault{}, time.Time{}
	}
	found.reason, found.message, again = failing(sm, seen, now)
	return found, again
}

// failing says why the Machine counts as failed; "" if it does not. If it does
// not yet, again is when it would.
func failing(sm *v1beta1.ScheduledMachine, seen *observation, now time.Time) (reason, message string, again time.Time) {
	p := seen.machine
	machine := p.state()
	if machine.Failure != "" {
		return v1beta1.ReasonMachineFailed, "Cluster API gave the Machine up: " + machine.Failure, time.Time{}
	}
	limit := timeoutOr(sm.Spec.ProvisioningTimeout, defaultProvisioningTimeout)
	if limit == 0 || machine.Running() || wasReady(sm, p) {
		return "", "", time.Time{}
	}
	created := p.child.CreationTimestamp.Time
	if deadline := created.Add(limit); now.Before(deadline) {
		return "", "", deadline
	}
	if machine.NodeName != "" && seen.connection != "" {
		return "", "", time.Time{} // nobody can tell whether its node is ready; the Cluster's own change wakes us
	}
	message = fmt.Sprintf("The Machine was not up within spec.provisioningTimeout (%s), waiting for %s", limit, missing(machine))
	if machine.NotReady != "" {
		message += ". Cluster API says: " + machine.NotReady
	}
	return v1beta1.ReasonProvisioningTimedOut, message, time.Time{}
}

// wasReady reports whether this very Machine has been seen to run.
func wasReady(sm *v1beta1.ScheduledMachine, p piece) bool {
	at := sm.Status.MachineReadyTime
	if at == nil {
		return sm.Status.Ready // written before there was such a field
	}
	return !at.Time.Before(p.child.CreationTimestamp.Time)
}

// failures counts the Machines that failed one after the other. It returns nil
// when none did, and the instant at which to look again, zero if only an event
// can change anything. again is when the Machine would count as failed.
func failures(f *facts, again time.Time) (*v1beta1.MachineFailures, time.Time) {
	before, p := f.sm.Status.MachineFailures, f.seen.machine
	switch {
	case !f.wanted.up:
		return nil, time.Time{}
	case !p.present(), p.deleting():
		return before, time.Time{} // between two Machines
	case !failed(f):
		return forgiven(f.sm, before, p.state(), f.now, again)
	}
	message := clip(f.fault.message, messageLimit)
	if before != nil && before.MachineUID == p.child.UID {
		after := *before
		after.Message = message
		return &after, dueLater(before.ReplaceTime.Time, f.now)
	}
	after := &v1beta1.MachineFailures{Count: 1, MachineUID: p.child.UID, Message: message}
	if before != nil {
		after.Count += before.Count
	}
	after.ReplaceTime = ceilSecond(f.now.Add(replacementPause(after.Count)))
	return after, after.ReplaceTime.Time
}

// forgiven ends the count once a Machine has run for long enough.
func forgiven(sm *v1beta1.ScheduledMachine, before *v1beta1.MachineFailures, machine *capi.MachineState, now, again time.Time) (*v1beta1.MachineFailures, time.Time) {
	if before == nil || !machine.Running() || sm.Status.MachineReadyTime == nil {
		return before, again
	}
	well := sm.Status.MachineReadyTime.Add(wellAfter)
	if !now.Before(well) {
		return nil, again
	}
	after := *before
	after.MachineUID = "" // one that is up after all and fails later is another failure
	return &after, earliest(well, again)
}

// dueLater returns the instant if it is still to come, else zero.
func dueLater(instant, now time.Time) time.Time {
	if now.Before(instant) {
		return instant
	}
	return time.Time{}
}

func replacementPause(count int32) time.Duration {
	pause := firstReplacement
	for range count - 1 {
		if pause *= 2; pause >= longestReplacement {
			return longestReplacement
		}
	}
	return pause
}

// toReplace reports whether the Machine has failed, stands on record as failed,
// and its time is over.
func toReplace(f *facts) bool {
	onRecord := f.sm.Status.MachineFailures
	return onRecord != nil && f.failures != nil && f.seen.machine.present() &&
		onRecord.MachineUID == f.seen.machine.child.UID && f.failures.MachineUID == onRecord.MachineUID &&
		failed(f) && !f.now.Before(onRecord.ReplaceTime.Time)
}

// failed reports whether the present Machine counts as failed.
func failed(f *facts) bool { return f.fault.reason != "" }
