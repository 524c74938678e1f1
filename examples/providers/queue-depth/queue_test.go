// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/sdk"
)

// answers returns a server that answers everything the same way.
func answers(t *testing.T, status int, body string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return server
}

// at returns the queue at a URL, and at a place in its answer.
func at(t *testing.T, url, pointer string) queue {
	t.Helper()
	q, err := queueOf(QueueDepthScheduleSpec{URL: url, Pointer: pointer})
	if err != nil {
		t.Fatal(err)
	}
	q.client = newClient()
	return q
}

func TestTheDepthIsANumberOrTheLengthOfAList(t *testing.T) {
	tests := map[string]struct {
		body, pointer string
		want          float64
	}{
		"a number":                   {`{"messages": 12, "messages_ready": 7}`, "/messages", 12},
		"a number with a fraction":   {`{"load": 0.5}`, "/load", 0.5},
		"deep within":                {`{"data": [{"depth": 3}]}`, "/data/0/depth", 3},
		"a name with a slash":        {`{"a/b": {"~": 4}}`, "/a~1b/~0", 4},
		"a list":                     {`{"items": [{}, {}, {}]}`, "/items", 3},
		"an empty list":              {`{"items": []}`, "/items", 0},
		"the answer itself":          {`7`, "", 7},
		"the answer itself, as list": {`[1, 2]`, "", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := answers(t, http.StatusOK, test.body)
			got, err := at(t, server.URL, test.pointer).depth(t.Context())
			if err != nil || got != test.want {
				t.Errorf("got %v, %v; want %v", got, err, test.want)
			}
		})
	}
}

// An answer that is of no use is the request's fault, and the server goes on to
// be asked by others; a server in trouble is not.
func TestWhatIsNoAnswer(t *testing.T) {
	tests := map[string]struct {
		status     int
		body       string
		wantReason string // "" for the server's fault
		want       string
	}{
		"no JSON":              {http.StatusOK, `s3cret`, "AnswerUnusable", "the answer is no JSON"},
		"nothing there":        {http.StatusOK, `{"s3cret": 1}`, "AnswerUnusable", "the answer has nothing at spec.pointer"},
		"a number in a text":   {http.StatusOK, `{"messages": "s3cret"}`, "AnswerUnusable", "what the answer has at spec.pointer is neither a number nor a list"},
		"null":                 {http.StatusOK, `{"messages": null}`, "AnswerUnusable", "what the answer has at spec.pointer is neither a number nor a list"},
		"more than a mebibyte": {http.StatusOK, strings.Repeat("[", 1<<20+1), "AnswerUnusable", "the answer is longer than 1048576 bytes"},
		"a redirect":           {http.StatusFound, `{"messages": 1}`, "RequestRefused", "it answers 302 Found"},
		"not allowed":          {http.StatusUnauthorized, `s3cret`, "RequestRefused", "it answers 401 Unauthorized"},
		"no content":           {http.StatusNoContent, ``, "", "it answers 204 No Content"},
		"too many requests":    {http.StatusTooManyRequests, ``, "", "it answers 429 Too Many Requests"},
		"in trouble":           {http.StatusServiceUnavailable, `s3cret`, "", "it answers 503 Service Unavailable"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := answers(t, test.status, test.body)
			_, err := at(t, server.URL+"/s3cret?token=s3cret", "/messages").depth(t.Context())
			if err == nil || err.Error() != test.want {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			var notReady *sdk.NotReadyError
			if errors.As(err, &notReady); (notReady != nil) != (test.wantReason != "") || notReady != nil && notReady.Reason != test.wantReason {
				t.Errorf("got %#v, want the reason %q", err, test.wantReason)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	if _, err := at(t, server.URL, "").depth(t.Context()); err == nil || asked != 1 {
		t.Errorf("asked %d times, and got %v", asked, err)
	}
}

func TestTheCredentialsAreSentAndNotTold(t *testing.T) {
	sent := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	q := at(t, server.URL, "")
	q.authorization = "Bearer s3cret\n" // as written by echo
	_, err := q.depth(t.Context())
	if sent != "Bearer s3cret" {
		t.Errorf("sent %q", sent)
	}
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatCannotBeReached(t *testing.T) {
	gone := answers(t, http.StatusOK, "1")
	gone.Close()
	_, err := at(t, gone.URL+"/s3cret", "").depth(t.Context())
	if err == nil || !strings.HasSuffix(err.Error(), "connection refused") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestTheRequestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel() // once it is under way
		<-r.Context().Done()
	}))
	defer server.Close()
	if _, err := at(t, server.URL, "").depth(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNoLinkLocalAddressIsAsked(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "0.0.0.0", "[ff02::1]"} {
		_, err := at(t, "http://"+host+"/latest/meta-data", "").depth(t.Context())
		if err == nil || !strings.Contains(err.Error(), "which is never asked") {
			t.Errorf("%s: got %v", host, err)
		}
	}
}

func TestQueueOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://queue":                   "",
		"https://queue:8443/depth?q=a":   "",
		"ftp://queue":                    "spec.url must begin with http:// or https:// and a host",
		"https:///depth":                 "spec.url must begin with http:// or https:// and a host",
		"https://reader:s3cret@queue":    "spec.url must not hold credentials: put them into a Secret and name its entry in spec.authorizationKey",
		"https://queue/%zz?token=s3cret": "spec.url is no URL",
	} {
		_, err := queueOf(QueueDepthScheduleSpec{URL: url})
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%s: got %v, want %s", url, err, want)
		}
	}
}
