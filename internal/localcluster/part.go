// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"fmt"
	"sync"
)

// Names of the parts that are processes.
const (
	PartControlPlane        = "control plane"
	PartCore                = "Cluster API core"
	PartBootstrap           = "Cluster API kubeadm bootstrap"
	PartKubeadmControlPlane = "Cluster API kubeadm control plane"
	PartInfrastructure      = "Cluster API in-memory infrastructure"
	PartController          = "controller"
	PartManualSchedule      = "ManualSchedule provider"
	PartTimeBased           = "TimeBasedSpotSchedule provider"
	PartCapitalMarkets      = "CapitalMarketsSchedule provider"
)

// PartError says that a part ended that should not have.
type PartError struct {
	// Name is the name of the part.
	Name string
	// Err says how it ended; for a process it is a *process.ExitError.
	Err error
}

func (e *PartError) Error() string { return fmt.Sprintf("the %s has ended: %v", e.Name, e.Err) }

// Unwrap returns Err.
func (e *PartError) Unwrap() error { return e.Err }

// A Part is one process of a Cluster. The Cluster ends when a part ends by
// itself, not when it is ended by Stop or Kill here.
type Part struct {
	name    string
	metrics string // URL
	launch  func(context.Context) (running, error)
	failed  func(error) // told when the process ends by itself
	abrupt  bool        // whether it is ended by SIGKILL, since its good order cannot be relied on

	mu      sync.Mutex
	current running
	wanted  bool // whether current is meant to be running
}

// running is what a Part needs of a process: a *process.Process or a *devplane.Plane.
type running interface {
	PID() int
	Log() string
	Done() <-chan struct{}
	Err() error
	Stop() error
	Kill() error
}

// Name returns the name of the part.
func (p *Part) Name() string { return p.name }

// MetricsURL returns where the part serves its metrics in Prometheus' text
// format, empty if it is not one of our programs.
func (p *Part) MetricsURL() string { return p.metrics }

// PID returns the id of the process that runs now or, if none does, of the last
// one; zero if it was never started.
func (p *Part) PID() int {
	if current := p.process(); current != nil {
		return current.PID()
	}
	return 0
}

// Log returns the path of the file with the output of the part, empty if it was
// never started.
func (p *Part) Log() string {
	if current := p.process(); current != nil {
		return current.Log()
	}
	return ""
}

func (p *Part) process() running {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// Start starts the part and returns when it is ready. Starting one that runs
// is an error.
func (p *Part) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil && p.current.Err() == nil {
		return fmt.Errorf("starting the %s: it runs already", p.name)
	}
	started, err := p.launch(ctx)
	if err != nil {
		return err
	}
	p.current, p.wanted = started, true
	go p.watch(started)
	return nil
}

func (p *Part) watch(started running) {
	<-started.Done()
	p.mu.Lock()
	unwanted := p.current == started && p.wanted
	p.mu.Unlock()
	if unwanted {
		p.failed(&PartError{Name: p.name, Err: started.Err()})
	}
}

// Stop ends the process in good order; one of Cluster API's managers, which have
// nothing to put in order, at once. It does nothing if none runs.
func (p *Part) Stop() error {
	if p.abrupt {
		return p.Kill()
	}
	return p.end(running.Stop)
}

// Kill ends the process with SIGKILL and returns when it has ended. It does
// nothing if none runs.
func (p *Part) Kill() error { return p.end(running.Kill) }

func (p *Part) end(how func(running) error) error {
	p.mu.Lock()
	p.wanted = false
	current := p.current
	p.mu.Unlock()
	if current == nil {
		return nil
	}
	return how(current)
}
