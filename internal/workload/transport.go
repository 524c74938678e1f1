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
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// RequestTimeout bounds each request of a View's client, and so how long a
// cluster that has just died can hold up whoever writes to it.
const RequestTimeout = 5 * time.Second

const (
	// answerTimeout bounds the wait for the head of any answer.
	answerTimeout = 10 * time.Second
	// pingAfter and pingTimeout bound how long a watch seems to go on whose server
	// has gone without a word.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
	// bodyLimit bounds an answer that is not a watch, in bytes: 500 Nodes at once
	// come to 10 MiB or so.
	bodyLimit = 64 << 20
)

var (
	errRedirect  = errors.New("redirects are not followed")
	errTooLarge  = errors.New("the answer is too large")
	errLinkLocal = errors.New("link-local addresses are not connected to")
)

// newTransport returns a pool of connections of its own, so that closing it
// closes the last connection that the credentials were used on. No proxy of the
// kubeconfig's is asked, only one that this process's environment names.
func newTransport(config *rest.Config) (*http.Transport, error) {
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing TLS: %w", err)
	}
	dialer := &net.Dialer{Timeout: answerTimeout, KeepAlive: pingAfter, ControlContext: refuseLinkLocal}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       tlsConfig,
		TLSHandshakeTimeout:   answerTimeout,
		ResponseHeaderTimeout: answerTimeout,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}, nil
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

// limited bounds what is read of an answer that is not a watch, whose events
// have a bound each.
type limited struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err == nil && request.URL.Query().Get("watch") == "" {
		response.Body = &limitedBody{ReadCloser: response.Body, left: bodyLimit}
	}
	return response, err
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
	return n, err
}
