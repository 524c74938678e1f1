// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// filtered passes the events of a watch on by way of a function. Unlike apimachinery's
// watch.Filter it leaves no goroutine behind when it is stopped with an event on the way.
type filtered struct {
	source  watch.Interface
	result  chan watch.Event
	stopped chan struct{}
	stop    sync.Once
}

func newFiltered(source watch.Interface, filter func(watch.Event) watch.Event) *filtered {
	f := &filtered{source: source, result: make(chan watch.Event), stopped: make(chan struct{})}
	go f.pass(filter)
	return f
}

// ResultChan implements watch.Interface.
func (f *filtered) ResultChan() <-chan watch.Event { return f.result }

// Stop implements watch.Interface.
func (f *filtered) Stop() {
	f.stop.Do(func() { close(f.stopped) })
	f.source.Stop()
}

func (f *filtered) pass(filter func(watch.Event) watch.Event) {
	defer close(f.result)
	for event := range f.source.ResultChan() {
		select {
		case f.result <- filter(event):
		case <-f.stopped:
			return
		}
	}
}
