// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// places are those among the machines that may come up at a time. Another machine
// of higher priority wants one at times.
type places struct {
	limit             int // 0: none
	otherUp, otherAsk bool
}

var otherName = types.NamespacedName{Namespace: "trading", Name: "other"}

// changeLine has the other machine ask for a place, or be up.
func (w *world) changeLine(t *rapid.T) {
	if w.otherAsk || w.otherUp {
		w.otherIsUp()
		return
	}
	w.otherAsk = rapid.Bool().Draw(t, "wants to come up")
	w.moveUp()
}

func (w *world) otherIsUp() {
	w.otherUp, w.otherAsk = false, false
	w.r.gate.Done(otherName)
}

// moveUp gives the other machine a place if it is its turn.
func (w *world) moveUp() {
	if w.otherAsk && w.r.gate.Ask(otherName, 100, noon) {
		w.otherUp, w.otherAsk = true, false
	}
}

// placeAgain tells a controller that starts of the other machine.
func (w *world) placeAgain() {
	if w.otherUp {
		w.r.gate.Holds(otherName)
	}
	w.moveUp()
}
