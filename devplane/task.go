// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// task is a function that runs until it is told to stop or fails.
type task struct {
	ctx    context.Context // done once the task is to stop or has ended
	cancel context.CancelFunc
	done   chan struct{}
	err    error // to be read after done
}

func spawn(f func(context.Context) error) *task {
	t := &task{done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(t.done)
		defer t.cancel()
		t.err = f(t.ctx)
	}()
	return t
}

func (t *task) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// stop tells the task to stop, waits for it and returns its error.
func (t *task) stop() error {
	t.cancel()
	<-t.done
	return t.err
}
