// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// knownUntil lets an alert count the days that are left. It names exchanges, not
// objects, and only those that an object has asked for.
var knownUntil = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "fivespot_capital_markets_calendar_known_until_timestamp_seconds",
	Help: "The instant, in seconds since 1970, from which the calendar of an exchange in use knows nothing.",
}, []string{"exchange"})

var registerKnownUntil = sync.OnceFunc(func() { metrics.Registry.MustRegister(knownUntil) })

func showKnownUntil(mic string, until time.Time) {
	registerKnownUntil()
	knownUntil.WithLabelValues(mic).Set(float64(until.Unix()))
}
