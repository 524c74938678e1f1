// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/fivespot/fivespot/api/contract"
)

// requests counts what one API server was asked about the kind, by its own
// metrics: the only trace that a poll leaves, or a patch that changes nothing.
type requests struct {
	// server tells one API server, and one run of it, from others.
	server float64
	// byVerb counts those requests that a provider might make, by verb as RBAC
	// spells it.
	byVerb map[string]int
	// ofNamespaces counts the lists of one namespace, and cleared the deletions of
	// all objects in one. Kubernetes makes one of each when a namespace goes.
	ofNamespaces, cleared int
	// watches counts the watches of all namespaces that ended.
	watches int
}

// The metrics of an API server that are read.
const (
	metricRequests = "apiserver_request_total"
	metricStart    = "process_start_time_seconds"
)

// requests reads the metrics of the API server that answers.
func (e *env) requests(ctx context.Context) (*requests, error) {
	text, err := e.discovery.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	return readRequests(bytes.NewReader(text), e.plural())
}

// readRequests counts the requests for a resource of the group, its
// subresources included, in metrics as an API server writes them.
func readRequests(metrics io.Reader, resource string) (*requests, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(onlyNamed(metrics, metricRequests, metricStart))
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	started := families[metricStart].GetMetric()
	if len(started) != 1 || families[metricRequests] == nil {
		return nil, errors.New("the metrics of the API server do not count requests")
	}
	read := &requests{server: value(started[0]), byVerb: map[string]int{}}
	for _, metric := range families[metricRequests].GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		if labels["group"] == contract.Group && labels["resource"] == resource {
			read.add(labels["verb"], labels["scope"], int(value(metric)))
		}
	}
	return read, nil
}

// add counts requests by what they may be: a list, or a read or write of one
// object, is what a provider might do again and again.
func (r *requests) add(verb, scope string, count int) {
	switch {
	case verb == "LIST" && scope == "namespace":
		r.ofNamespaces += count
	case verb == "LIST", scope == "resource" && slices.Contains([]string{"GET", "PUT", "PATCH", "APPLY"}, verb):
		r.byVerb[strings.ToLower(verb)] += count
	case verb == "DELETE" && scope == "namespace":
		r.cleared += count
	case verb == "WATCH" && scope == "cluster":
		r.watches += count
	}
}

// value is that of a metric of one number, of whichever type it is declared.
func value(metric *dto.Metric) float64 {
	return metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
}

// onlyNamed keeps the lines of the named metrics: the rest is long.
func onlyNamed(metrics io.Reader, names ...string) io.Reader {
	text, err := io.ReadAll(metrics)
	if err != nil {
		return bytes.NewReader(nil)
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		if slices.ContainsFunc(names, func(name string) bool {
			rest, is := bytes.CutPrefix(line, []byte(name))
			return is && len(rest) > 0 && (rest[0] == '{' || rest[0] == ' ')
		}) {
			kept.Write(line)
		}
	}
	return &kept
}

// since returns the requests from before until now, by verb, and how many they
// are. Of the lists of one namespace those count for which no namespace went.
func (r *requests) since(before *requests) (text string, count int) {
	var texts []string
	for _, verb := range slices.Sorted(maps.Keys(r.byVerb)) {
		if more := r.byVerb[verb] - before.byVerb[verb]; more > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", more, verb))
			count += more
		}
	}
	if more := r.ofNamespaces - before.ofNamespaces - (r.cleared - before.cleared); more > 0 {
		texts = append(texts, fmt.Sprintf("%d list of one namespace", more))
		count += more
	}
	return strings.Join(texts, ", "), count
}

// beganSince reports whether somebody who watches the kind may have begun anew
// since before: a watch ended, or all objects were listed.
func (r *requests) beganSince(before *requests) bool {
	return r.watches > before.watches || r.byVerb["list"] > before.byVerb["list"]
}
