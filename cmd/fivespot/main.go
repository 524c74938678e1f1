// SPDX-License-Identifier: Apache-2.0

// Fivespot is the command that people type. Under the name kubectl-fivespot it
// is a plugin of kubectl.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fivespot/fivespot/internal/cli"
)

func main() {
	// What client libraries have to say is not for the person at the terminal.
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	command := newCommand(os.Args[0], streams, clock.RealClock{})
	if err := command.ExecuteContext(ctx); err != nil {
		os.Exit(tell(err, os.Stderr)) //nolint:gocritic // the handler of signals ends with the process
	}
}

// tell writes what went wrong, if the command did not, and returns the exit status.
func tell(err error, to io.Writer) int {
	status := &cli.StatusError{Status: 1, Err: err}
	errors.As(err, &status)
	if status.Err != nil {
		fmt.Fprintln(to, "fivespot:", status.Err)
	}
	return status.Status
}
