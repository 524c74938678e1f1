// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// headerTimeout bounds how long a client may take to ask.
const headerTimeout = 10 * time.Second

// addHealthServer serves /healthz and /readyz from when the manager starts. The
// manager's own server would say "reason withheld" where an author wants the
// reason, and log each probe that is not passed.
func addHealthServer(ctx context.Context, mgr manager.Manager, address string, workers []*worker) error {
	if address == "0" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for health probes: %w (choose another --health-probe-bind-address)", err)
	}
	return mgr.Add(&manager.Server{
		Name:     "health probe",
		Server:   &http.Server{Handler: healthHandler(workers), ReadHeaderTimeout: headerTimeout},
		Listener: listener,
	})
}

// healthHandler answers that the process lives, and whether its providers do
// their work.
func healthHandler(workers []*worker) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		var waiting []string
		for _, worker := range workers {
			if err := worker.ready(r); err != nil {
				waiting = append(waiting, worker.provider.kind.Kind+": "+err.Error())
			}
		}
		if len(waiting) > 0 {
			http.Error(w, strings.Join(waiting, "\n"), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "ok")
	})
	return mux
}
