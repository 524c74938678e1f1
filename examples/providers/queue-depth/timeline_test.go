// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/sdk/sdktest"
)

// broker answers as the management API of RabbitMQ does.
type broker struct {
	depth    atomic.Int64
	down     atomic.Bool
	password string
}

func (b *broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case b.down.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Header.Get("Authorization") != b.password:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		fmt.Fprintf(w, `{"name": "render", "messages": %d}`, b.depth.Load())
	}
}

// leadingTo returns the client of the program, for which every host is this server.
func leadingTo(server *httptest.Server) *http.Client {
	client := newClient()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return client
}

func TestAMorningOfAQueue(t *testing.T) {
	rabbit := &broker{password: "Basic s3cret"}
	server := httptest.NewServer(rabbit)
	defer server.Close()

	eight := nine.Add(-time.Hour)
	timeline := sdktest.NewTimeline(t, provider(leadingTo(server)), eight)
	at := func(minutes int) { timeline.AdvanceTo(eight.Add(time.Duration(minutes) * time.Minute)) }

	jobs := &QueueDepthSchedule{
		ObjectMeta: metav1.ObjectMeta{Name: "render-jobs"},
		Spec: QueueDepthScheduleSpec{
			URL: "http://rabbitmq.example.com/api/queues/%2F/render", Pointer: "/messages", StartAt: 10, StopAt: 2,
			Interval:         metav1.Duration{Duration: time.Minute},
			Timeout:          metav1.Duration{Duration: 5 * time.Second},
			MaxAge:           metav1.Duration{Duration: 10 * time.Minute},
			AuthorizationKey: "rabbitmq",
		},
	}
	secret := func(password string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "queue-depth-credentials"},
			Data:       map[string][]byte{"rabbitmq": []byte(password)},
		}
	}

	timeline.Apply(jobs) // before its Secret
	at(5)
	timeline.Apply(secret("Basic wrong"))
	at(10)
	timeline.Apply(secret("Basic s3cret"))
	at(20)
	rabbit.depth.Store(9) // not yet
	at(30)
	rabbit.depth.Store(10)
	at(40)
	rabbit.depth.Store(3) // still some
	at(50)
	rabbit.depth.Store(2)
	at(60)
	rabbit.depth.Store(9) // few again
	at(70)
	rabbit.depth.Store(500)
	at(80)
	rabbit.down.Store(true) // first for a while, then for long
	at(85)
	rabbit.down.Store(false)
	at(90)
	rabbit.down.Store(true)
	at(120)
	rabbit.depth.Store(0)
	rabbit.down.Store(false)
	at(130)
	timeline.Golden("testdata/morning.txt")
}
