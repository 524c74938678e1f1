// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// RequestTimeout bounds each request of a View's client, and so how long a
// cluster that has just died can hold up whoever writes to it.
const RequestTimeout = 5 * time.Second

// bodyLimit bounds an answer that is not a watch, in bytes: 500 Nodes at once
// come to 10 MiB or so.
const bodyLimit = 64 << 20

// patience is how long a server may be silent.
type patience struct {
	// answer bounds the wait for a connection and for the head of any answer.
	answer time.Duration
	// pingAfter and ping bound how long a watch seems to go on whose server has
	// gone without a word: it is pinged after the one and given up after the other.
	pingAfter, ping time.Duration
	// watch bounds how long a watch goes on that its server does not end, as it is
	// asked to within 10 minutes: something on the way may answer the pings.
	watch time.Duration
}

var usualPatience = patience{
	answer: 10 * time.Second, pingAfter: 30 * time.Second, ping: 15 * time.Second, watch: 11 * time.Minute,
}

var (
	errRedirect  = errors.New("redirects are not followed")
	errTooLarge  = errors.New("the answer is too large")
	errBrokenOff = errors.New("the answer is broken off")
	errLinkLocal = errors.New("link-local addresses are not connected to")
	errClosed    = errors.New("the kubeconfig is no longer used")
)

// newTransport returns a pool of connections of its own, and what closes it for
// good: every one of them, also one in use, and those that are yet to be opened, so
// that nothing goes on with credentials that are no longer those of the Secret. No proxy of the kubeconfig's is asked, only
// one that this process's environment names.
func newTransport(config *rest.Config, wait patience) (transport *http.Transport, closeAll func(), err error) {
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("preparing TLS: %w", err)
	}
	plain := &net.Dialer{Timeout: wait.answer, KeepAlive: wait.pingAfter, ControlContext: refuseLinkLocal}
	dialer := &dialer{Dialer: connrotation.NewDialer(plain.DialContext)}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       tlsConfig,
		TLSHandshakeTimeout:   wait.answer,
		ResponseHeaderTimeout: wait.answer,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: wait.pingAfter, PingTimeout: wait.ping},
	}, dialer.close, nil
}

// dialer opens connections until it is closed.
type dialer struct {
	*connrotation.Dialer

	closed atomic.Bool
}

// DialContext opens a connection.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if d.closed.Load() {
		return nil, errClosed
	}
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err == nil && d.closed.Load() { // meanwhile, so that close may not have met it
		conn.Close()
		return nil, errClosed
	}
	return conn, err
}

func (d *dialer) close() {
	d.closed.Store(true)
	d.CloseAll()
}

// refuseLinkLocal keeps a kubeconfig from pointing us at a cloud's metadata service.
func refuseLinkLocal(_ context.Context, _, address string, _ syscall.RawConn) error {
	parsed, err := netip.ParseAddrPort(address)
	if err == nil && parsed.Addr().Unmap().IsLinkLocalUnicast() {
		return errLinkLocal
	}
	return nil
}

// newHTTPClient returns a client over a transport that adds the credentials. It
// follows no redirect, which could lead them elsewhere. A zero timeout is none,
// as a watch needs.
func newHTTPClient(config *rest.Config, transport http.RoundTripper, timeout time.Duration) (*http.Client, error) {
	authorized, err := rest.HTTPWrappersForConfig(config, limited{transport})
	if err != nil {
		return nil, fmt.Errorf("preparing credentials: %w", err)
	}
	return &http.Client{
		Transport:     authorized,
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}, nil
}

// limited bounds what an answer can do: how much of it is read, unless it is a
// watch, whose events have a bound each; and for how long it puts us off, as
// client-go would wait within a request for as long as the answer says.
type limited struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Header.Del("Retry-After")
	if request.URL.Query().Get("watch") == "" {
		response.Body = &limitedBody{ReadCloser: response.Body, left: bodyLimit}
	}
	return response, nil
}

type limitedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errBrokenOff, err)
	}
	return n, err
}
