// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// listen opens the one port. Without --port it first tries that of the last
// run, so that kubeconfig files which were written then stay valid.
func listen(ctx context.Context, o options, l layout) (net.Listener, error) {
	if o.port != 0 {
		listener, err := listenOn(ctx, o.bind, o.port)
		if err != nil {
			return nil, fmt.Errorf("listening on --port %d: %w", o.port, err)
		}
		return listener, l.savePort(listener)
	}
	last, err := l.lastPort()
	if err != nil {
		return nil, err
	}
	listener, err := listenOn(ctx, o.bind, last)
	if errors.Is(err, syscall.EADDRINUSE) {
		listener, err = listenOn(ctx, o.bind, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return listener, l.savePort(listener)
}

func listenOn(ctx context.Context, address net.IP, port int) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", net.JoinHostPort(address.String(), strconv.Itoa(port)))
}

// portOf returns the port of a listener that listenOn opened.
func portOf(listener net.Listener) int {
	return listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // a listener on "tcp" has such an address
}

// lastPort returns the port of the last run, 0 when there was none.
func (l layout) lastPort() (int, error) {
	content, err := os.ReadFile(l.port())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the port of the last run: %w", err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(content)), 10, 16)
	if err != nil {
		return 0, fmt.Errorf("reading the port of the last run: %w; remove %s to have a new one chosen", err, l.port())
	}
	return int(port), nil
}

func (l layout) savePort(listener net.Listener) error {
	if err := writeFile(l.port(), []byte(strconv.Itoa(portOf(listener))+"\n")); err != nil {
		return fmt.Errorf("keeping the port for the next run: %w", err)
	}
	return nil
}
