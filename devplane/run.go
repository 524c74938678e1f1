// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	readyTimeout = 2 * time.Minute
	readyPoll    = 50 * time.Millisecond
)

// run takes the directory, starts everything, says so in one line on out, and
// stops everything, in reverse order, when ctx is done or a part fails. It
// returns nil when ctx was done after everything was ready.
func run(ctx context.Context, o options, out io.Writer) error {
	l := layout(o.dir)
	if err := l.make(); err != nil {
		return err
	}
	unlock, err := l.takeLock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Chdir(o.dir); err != nil { // see etcdClientSocket
		return fmt.Errorf("entering --dir: %w", err)
	}
	ca, err := l.ensurePKI()
	if err != nil {
		return err
	}
	if err := writeFile(l.auditPolicy(), auditPolicy); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	return serve(ctx, o, l, ca, out)
}

func serve(ctx context.Context, o options, l layout, ca *authority, out io.Writer) (err error) {
	etcd, err := startEtcd(ctx, o, l)
	if err != nil {
		return err
	}
	defer etcd.Close()

	listener, err := listen(ctx, o, l)
	if err != nil {
		return err
	}
	c := clients{server: "https://" + listener.Addr().String(), ca: ca}
	api := spawn(func(ctx context.Context) error { return serveAPI(ctx, o, l, listener) })
	defer func() { err = errors.Join(err, api.stop()) }()
	if err := awaitReady(ctx, api, c); err != nil {
		return err
	}

	stopControllers, err := startControllers(ctx, api, o, c, l)
	if err != nil {
		return err
	}
	defer stopControllers()

	if err := l.writeKubeconfig(c.server); err != nil {
		return err
	}
	if err := announce(o, out, fmt.Sprintf("ready %s kubeconfig %s\n", c.server, l.kubeconfig())); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-api.done:
		return errors.New("kube-apiserver ended by itself")
	case err := <-etcd.Err():
		return fmt.Errorf("running etcd: %w", err)
	}
}

func announce(o options, out io.Writer, line string) error {
	if _, err := io.WriteString(out, line); err != nil {
		return fmt.Errorf("saying that it is ready: %w", err)
	}
	if o.readyFile == "" {
		return nil
	}
	if err := writeFile(o.readyFile, []byte(line)); err != nil {
		return fmt.Errorf("writing --ready-file: %w", err)
	}
	return nil
}

// awaitReady returns when /readyz says ok.
func awaitReady(ctx context.Context, api *task, c clients) error {
	config, err := c.admin()
	if err != nil {
		return err
	}
	config.Timeout = 5 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the client that asks for readiness: %w", err)
	}
	// What was not ready is the answer's message, worth more than "timed out".
	var last error
	err = wait.PollUntilContextTimeout(ctx, readyPoll, readyTimeout, true, func(ctx context.Context) (bool, error) {
		if api.ended() {
			return false, errors.New("it ended")
		}
		last = client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return last == nil, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("stopped before it was ready")
	case last != nil:
		return fmt.Errorf("waiting for kube-apiserver to be ready: %w (%w)", err, last)
	default:
		return fmt.Errorf("waiting for kube-apiserver to be ready: %w", err)
	}
}

// startControllers returns a function that stops them and waits for them.
func startControllers(ctx context.Context, api *task, o options, c clients, l layout) (stop func(), err error) {
	all, err := newControllers(c, l)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(alwaysRun)
	if o.disruption {
		list = append(list, onRequest)
	}
	// Their own context: they end before kube-apiserver does, yet not at the
	// very moment of the signal.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop = func() {
		cancel()
		all.wait()
	}
	defer context.AfterFunc(ctx, cancel)()
	defer context.AfterFunc(api.ctx, cancel)() //nolint:contextcheck // they end with kube-apiserver as well
	if err := all.start(own, list); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}
