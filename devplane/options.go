// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"github.com/spf13/pflag"
)

// options is what the command line says.
type options struct {
	dir        string // absolute after parsing
	bind       net.IP // a loopback address
	port       int    // 0: the port of the last run if it is free, else any free one
	disruption bool
	fsync      bool
	verbosity  int
	readyFile  string // absolute after parsing; empty: none
}

func parseOptions(arguments []string) (options, error) {
	o := options{bind: net.IPv4(127, 0, 0, 1)}
	flags := pflag.NewFlagSet("devplane", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&o.dir, "dir", "", "directory for everything that is kept: data, keys, logs, kubeconfig (required)")
	flags.IPVar(&o.bind, "bind", o.bind, "loopback address to listen on")
	flags.IntVar(&o.port, "port", 0, "port to listen on; 0 takes the port of the last run on this directory if it is free, else any free port")
	flags.BoolVar(&o.disruption, "disruption-controller", false, "also run the controller that keeps the status of PodDisruptionBudgets")
	flags.BoolVar(&o.fsync, "fsync", true, "flush every write to disk; without it a crash of the machine (not of the process) may lose data")
	flags.StringVar(&o.readyFile, "ready-file", "", "file to make once ready, with the line that is printed then: for a parent process")
	flags.IntVarP(&o.verbosity, "v", "v", 0, "verbosity of the log on standard error")
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	if rest := flags.Args(); len(rest) > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: devplane takes flags only", rest[0])
	}
	return o.complete()
}

func (o options) complete() (options, error) {
	if o.dir == "" {
		return options{}, errors.New("--dir is missing: name the directory to keep data, keys and logs in")
	}
	if !o.bind.IsLoopback() {
		return options{}, fmt.Errorf("--bind %s is not a loopback address: use 127.0.0.1 or ::1, this control plane is for one machine only", o.bind)
	}
	if o.port < 0 || o.port > 65535 {
		return options{}, fmt.Errorf("--port %d is out of range: use 0 to 65535", o.port)
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return options{}, fmt.Errorf("making --dir absolute: %w", err)
	}
	o.dir = dir
	if o.readyFile != "" {
		if o.readyFile, err = filepath.Abs(o.readyFile); err != nil {
			return options{}, fmt.Errorf("making --ready-file absolute: %w", err)
		}
	}
	return o, nil
}
