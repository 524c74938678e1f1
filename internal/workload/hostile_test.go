// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/workload"
)

// What a server says of itself, and what it was told in confidence.
const (
	confession = "CONFESSION-OF-THE-SERVER"
	token      = "TOKEN-OF-THE-TENANT"
)

func TestNothingThatAServerSaysIsRepeated(t *testing.T) {
	t.Parallel()
	status := func(code int, reason string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d,`+
			`"details":{"name":%q,"causes":[{"message":%q}]}}`, confession, reason, code, confession, confession)
	}
	answer := func(code int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Warning", `299 - "`+confession+`"`)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	const json = "application/json"
	nodes := `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
	watching := func(event string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("watch") == "" {
				answer(http.StatusOK, json, nodes)(w, r)
				return
			}
			answer(http.StatusOK, json, event)(w, r)
		}
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		want    string // the reason; empty where the answer is that of an API server
	}{
		"a page":                      {answer(http.StatusOK, "text/html", "<html>"+confession), workload.ReasonUnexpectedAnswer},
		"an error page":               {answer(http.StatusBadGateway, "text/html", confession), workload.ReasonUnexpectedAnswer},
		"a status":                    {answer(http.StatusInternalServerError, json, status(500, "InternalError")), workload.ReasonUnexpectedAnswer},
		"a refusal":                   {answer(http.StatusForbidden, json, status(403, "Forbidden")), workload.ReasonForbidden},
		"an unknown user":             {answer(http.StatusUnauthorized, json, status(401, "Unauthorized")), workload.ReasonUnauthorized},
		"another kind of list":        {answer(http.StatusOK, json, `{"kind":"`+confession+`","apiVersion":"v1"}`), workload.ReasonUnexpectedAnswer},
		"a list that is cut off":      {answer(http.StatusOK, json, nodes[:40]+confession), workload.ReasonUnexpectedAnswer},
		"a watch that ends in woe":    {watching(`{"type":"ERROR","object":` + status(500, "InternalError") + `}`), ""},
		"a watch of another kind":     {watching(`{"type":"ADDED","object":{"kind":"` + confession + `","apiVersion":"v1"}}`), ""},
		"a watch that makes no sense": {watching(confession), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			server := serve(t, test.handler)
			r.put("rack-kubeconfig", confidential(t, server))
			a := r.owner("a")
			var view workload.View
			if test.want == "" {
				view = r.reaches(a, r.byName("rack"), workload.Target{})
			} else {
				view = r.fails(a, r.byName("rack"), test.want)
			}
			r.silent(view)
		})
	}
}

// silent checks that neither the server's words nor the tenant's token went anywhere.
func (r *rig) silent(view workload.View) {
	r.t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for where, text := range map[string]string{
		"the view": view.Message + fmt.Sprint(view.Node), "the log": r.log.String(),
		"client-go's log": logged.String(), "the metrics": fmt.Sprint(families),
	} {
		for _, secret := range []string{confession, token} {
			if strings.Contains(text, secret) {
				r.t.Errorf("%s repeats %s:\n%s", where, secret, text)
			}
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var visits atomic.Int32
	elsewhere := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	server := serve(t, http.RedirectHandler(elsewhere.URL+"/"+confession, http.StatusTemporaryRedirect))
	r.put("rack-kubeconfig", confidential(t, server))
	view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonUnexpectedAnswer)
	if want := "The API server " + server.URL + " answers with a redirect, which is not followed"; view.Message != want {
		t.Errorf("message %q, want %q", view.Message, want)
	}
	if visits.Load() > 0 {
		t.Error("it was followed")
	}
	r.silent(view)
}

func TestTheTokenGoesToNobodyWhoCannotProveWhoTheyAre(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var visits atomic.Int32
	server := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	config := &rest.Config{BearerToken: token}
	config.CAData = caOf(t, rest.CopyConfig(newAuthority(t)))
	r.put("rack-kubeconfig", kubeconfig(t, config, server.URL))
	view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonCertificateNotTrusted)
	if visits.Load() > 0 {
		t.Error("a request was made")
	}
	r.silent(view)
}

func TestAServerThatDoesNotSpeakTLSIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	address := plain.Listener.Addr().String()
	r.put("rack-kubeconfig", admin(t, "https://"+address))
	view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonUnexpectedAnswer)
	if want := "The API server https://" + address + " does not speak TLS"; view.Message != want {
		t.Errorf("message %q, want %q", view.Message, want)
	}
}

// Something on the way may answer for a server that is gone, and keep a watch open.
func TestAWatchThatItsServerDoesNotEndIsBegunAnew(t *testing.T) {
	t.Parallel()
	r := newCalmRig(t)
	workload.SetWatchPatience(r.Clusters, 3*time.Second) // in which one begins, however busy the machine
	watches := make(chan struct{}, 100)
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			watches <- struct{}{}
		}
		sparse(w, r)
	}))
	r.put("rack-kubeconfig", confidential(t, server))
	r.reaches(r.owner("a"), r.byName("rack"), workload.Target{})
	ctx := devplanetest.Context(t)
	for range 2 {
		select {
		case <-watches:
		case <-ctx.Done():
			t.Fatal("the watch was not begun anew")
		}
	}
}

// A webhook that is gone, say, holds up every write, while the API server is well. Who
// writes tries again after a while; were they woken each time, they would do so at once.
func TestARequestThatFailsWhileTheServerIsWellWakesNobodyTwice(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Date(2026, 6, 15, 9, 30, 0, 0, time.UTC))
	r := newCalmRig(t, func(o *workload.Options) { o.Clock = clock })
	var watches atomic.Int32
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			panic(http.ErrAbortHandler) // resets the stream
		}
		if r.URL.Query().Get("watch") != "" { // each watch tells by a Node of its own that it stands
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"watch-%[1]d","uid":"%[1]d","resourceVersion":"1%[1]d"}}}`, watches.Add(1))
		}
		sparse(w, r)
	}))
	r.put("rack-kubeconfig", confidential(t, server))
	// stands returns when the watch of a number does.
	stands := func(watch int) {
		t.Helper()
		r.await(r.owner("other"), r.byName("rack"), workload.Target{Node: fmt.Sprintf("watch-%d", watch)}, func(v workload.View) error {
			if v.NodeState != workload.NodePresent {
				return fmt.Errorf("watch %d does not stand", watch)
			}
			return nil
		})
	}
	stands(1) // for the other, who is woken for the Secret
	client := r.reaches(r.owner("a"), r.byName("rack"), workload.Target{}).Client
	ctx := devplanetest.Context(t)
	// fail returns how often the owner was woken by a request that fails, and by the
	// watch that is begun anew for it.
	fail := func(watch int) int {
		t.Helper()
		r.takeWoken()
		err := client.CoreV1().Nodes().Delete(ctx, "rack", metav1.DeleteOptions{})
		if err == nil || ctx.Err() != nil {
			t.Fatalf("the request ended with %v", err)
		}
		stands(watch)
		return r.takeWoken()["a"]
	}
	if woken := fail(2); woken != 2 {
		t.Errorf("the owner was woken %d times, want once for the request that failed and once for the watch that stands", woken)
	}
	if woken := fail(3); woken > 0 {
		t.Errorf("the owner was woken %d times for a cluster that is as it was", woken)
	}
	clock.Step(time.Hour)
	if woken := fail(4); woken != 2 {
		t.Errorf("after a while the owner was woken %d times, want twice again", woken)
	}
}

func TestALinkLocalAddressIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("rack-kubeconfig", admin(t, "https://169.254.169.254:443"))
	view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonUnreachable)
	if !strings.HasSuffix(view.Message, "is a link-local address, where no API server is looked for") {
		t.Errorf("message %q", view.Message)
	}
}

// sparse is an API server without Nodes, which puts off every other request.
func sparse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Query().Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case r.URL.Path == "/api/v1/nodes":
		fmt.Fprint(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	default:
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

func TestLookingAsksTheClusterNothing(t *testing.T) {
	t.Parallel()
	r := newCalmRig(t)
	var requests atomic.Int32
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		sparse(w, r)
	}))
	r.put("rack-kubeconfig", confidential(t, server))
	r.reaches(r.owner("a"), r.byName("rack"), workload.Target{})
	for range 100 {
		r.Use(r.owner("a"), r.byName("rack"), workload.Target{Node: "rack"})
		r.Use(r.owner("b"), r.byName("rack"), workload.Target{Node: "other"})
	}
	if got := requests.Load(); got != 2 {
		t.Errorf("%d requests were made, want a list and a watch", got)
	}
}

func TestNobodyIsPutOffByAnAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	server := serve(t, http.HandlerFunc(sparse))
	r.put("rack-kubeconfig", confidential(t, server))
	client := r.reaches(r.owner("a"), r.byName("rack"), workload.Target{}).Client
	ctx := devplanetest.Context(t)
	_, err := client.CoreV1().Nodes().Get(ctx, "rack", metav1.GetOptions{})
	if !apierrors.IsTooManyRequests(err) || ctx.Err() != nil {
		t.Errorf("the request ended with %v", err)
	}
}

// An answer without end must not fill the memory.
func TestAnAnswerWithoutEndIsNotReadToTheEnd(t *testing.T) {
	t.Parallel()
	r := newCalmRig(t)
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"NodeList","apiVersion":"v1","items":[`)
		for chunk := strings.Repeat(`{"metadata":{"name":"`+strings.Repeat("n", 200)+`"}},`, 1000); r.Context().Err() == nil; {
			if _, err := fmt.Fprint(w, chunk); err != nil {
				return
			}
		}
	}))
	r.put("rack-kubeconfig", confidential(t, server))
	view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonUnexpectedAnswer)
	if !strings.HasSuffix(view.Message, "answers with more than is read of it") {
		t.Errorf("message %q", view.Message)
	}
}

// Neither must Nodes without end, nor Nodes without measure, by whichever way they come.
func TestNoMoreIsKeptOfNodesThanTheLimit(t *testing.T) {
	t.Parallel()
	many := make([]string, 20_001)
	for i := range many {
		many[i] = fmt.Sprintf(`{"metadata":{"name":"n-%d","uid":"%d","resourceVersion":"%d"}}`, i, i, i+1)
	}
	large := make([]string, 100)
	for i := range large {
		large[i] = fmt.Sprintf(`{"metadata":{"name":"n-%d","uid":"%d","resourceVersion":"%d"},"spec":{"providerID":%q}}`,
			i, i, i+1, strings.Repeat("x", 1<<20))
	}
	for name, nodes := range map[string][]string{"many": many, "large": large} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newCalmRig(t)
			var watched atomic.Bool
			server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				from, err := strconv.Atoi(r.URL.Query().Get("continue"))
				if err != nil {
					from = 0
				}
				switch {
				case r.URL.Query().Get("watch") != "":
					for _, node := range nodes {
						fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1",%s}`, node[1:])
					}
					watched.Store(true)
				case watched.Load():
					to, next := min(from+1+len(nodes)/40, len(nodes)), ""
					if to < len(nodes) {
						next = strconv.Itoa(to)
					}
					fmt.Fprintf(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":%q},"items":[%s]}`,
						next, strings.Join(nodes[from:to], ","))
				default:
					fmt.Fprint(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
				}
				http.NewResponseController(w).Flush()
				if r.URL.Query().Get("watch") != "" {
					<-r.Context().Done()
				}
			}))
			r.put("rack-kubeconfig", confidential(t, server))
			view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonUnexpectedAnswer)
			if !strings.HasSuffix(view.Message, "answers with more than is read of it") {
				t.Errorf("message %q", view.Message)
			}
		})
	}
}

// confidential is a kubeconfig with the tenant's token for a server.
func confidential(t *testing.T, server *httptest.Server) []byte {
	t.Helper()
	config := &rest.Config{BearerToken: token}
	config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return kubeconfig(t, config, server.URL)
}

func serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of each handshake that is broken off
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections() // Close waits for the requests of watches
		server.Close()
	})
	return server
}
