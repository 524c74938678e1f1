// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/go-openapi/jsonpointer"

	"github.com/fivespot/fivespot/sdk"
)

// queue is where a depth is asked for. No error of it holds a path, a header or
// anything of an answer.
type queue struct {
	client        *http.Client
	address       *url.URL
	pointer       jsonpointer.Pointer
	authorization string
}

// server returns what fails as one.
func (q queue) server() string { return q.address.Scheme + "://" + q.address.Host }

// request tells what is asked of the server.
func (q queue) request() string { return q.address.RequestURI() + "#" + q.pointer.String() }

// maxAnswer bounds an answer in bytes.
const maxAnswer = 1 << 20

// depth asks once.
func (q queue) depth(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, q.address.String(), nil)
	if err != nil {
		return 0, errors.New("the request cannot be made")
	}
	request.Header.Set("Accept", "application/json")
	if q.authorization != "" {
		request.Header.Set("Authorization", strings.TrimSpace(q.authorization))
	}
	response, err := q.client.Do(request)
	if err != nil {
		return 0, withoutURL(err)
	}
	defer response.Body.Close()
	if err := accept(response.StatusCode); err != nil {
		return 0, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return 0, fmt.Errorf("reading the answer: %w", withoutURL(err))
	}
	return q.read(body)
}

// read finds the depth in an answer.
func (q queue) read(body []byte) (float64, error) {
	var answer any
	switch {
	case len(body) > maxAnswer:
		return 0, unusable("the answer is longer than %d bytes", maxAnswer)
	case json.Unmarshal(body, &answer) != nil:
		return 0, unusable("the answer is no JSON")
	}
	found, _, err := q.pointer.Get(answer)
	if err != nil {
		return 0, unusable("the answer has nothing at spec.pointer")
	}
	switch found := found.(type) {
	case float64:
		return found, nil
	case []any:
		return float64(len(found)), nil
	}
	return 0, unusable("what the answer has at spec.pointer is neither a number nor a list")
}

// unusable is an answer that the server stands by: nothing is wrong with the
// server, and asking again soon will not help.
func unusable(format string, args ...any) error {
	return sdk.NotReady("AnswerUnusable", fmt.Errorf(format, args...))
}

// accept says why an answer of that status is none.
func accept(status int) error {
	refused := fmt.Errorf("it answers %d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusOK:
		return nil
	case status >= 300 && status < 500 && status != http.StatusTooManyRequests:
		return sdk.NotReady("RequestRefused", refused)
	}
	return refused
}

// withoutURL takes the address away, which may hold what is nobody's business.
func withoutURL(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// newClient returns what asks every queue. How long one may take is said by the
// context of a request.
func newClient() *http.Client {
	return &http.Client{
		// A redirect might lead anywhere, and take the Authorization along.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			// No proxy: it would be asked to go where control does not let us.
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second, Control: control}).DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			MaxConnsPerHost:        4,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        90 * time.Second,
			ForceAttemptHTTP2:      true,
		},
	}
}

// control refuses link-local addresses, at which clouds hand out the credentials
// of the machine: no queue is there, and whoever may make a schedule must not be
// able to ask.
func control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if ip := to.Addr().Unmap(); ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return fmt.Errorf("%s is a link-local or multicast address, which is never asked", ip)
	}
	return nil
}
