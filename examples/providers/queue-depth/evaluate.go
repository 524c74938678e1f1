// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-openapi/jsonpointer"

	"github.com/fivespot/fivespot/sdk"
)

// credentials are all that the provider may read of Secrets: those of one name.
var credentials = sdk.Secrets.Named("queue-depth-credentials")

// evaluator decides for a schedule, by way of a client.
type evaluator struct{ client *http.Client }

// Evaluate asks how deep the queue is, and says what follows.
func (e evaluator) Evaluate(ctx context.Context, s *QueueDepthSchedule, now time.Time) (sdk.Decision, error) {
	q, err := queueOf(s.Spec)
	if err != nil {
		return sdk.Decision{}, sdk.InvalidSpec(err)
	}
	q.client = e.client
	if key := s.Spec.AuthorizationKey; key != "" {
		if q.authorization, err = authorization(ctx, key); err != nil {
			return sdk.Decision{}, err
		}
	}
	depth, err := sdk.Ask(ctx, sdk.Question[float64]{
		Server:   q.server(),
		Request:  q.request(),
		Interval: s.Spec.Interval.Duration,
		Timeout:  s.Spec.Timeout.Duration,
		Ask:      q.depth,
	})
	wasActive := s.Status.Active != nil && *s.Status.Active
	return decide(s.Spec, wasActive, depth, err, now)
}

// decide says what follows from the last answer, and from why there is no newer
// one. No text of it has a depth or an age: each change of those would be a write.
func decide(spec QueueDepthScheduleSpec, wasActive bool, depth sdk.Answer[float64], failed error, now time.Time) (sdk.Decision, error) {
	maxAge := spec.MaxAge.Duration
	if failed != nil && depth.Age(now) >= maxAge {
		return sdk.Decision{}, failed
	}
	decision := sdk.Decision{Active: wasActive}
	switch {
	case depth.Value >= float64(spec.StartAt):
		decision.Active = true
	case depth.Value <= float64(spec.StopAt):
		decision.Active = false
	}
	if decision.Active {
		decision.Reason = "JobsWait"
		decision.Message = fmt.Sprintf("the depth reached %d and has not come down to %d since", spec.StartAt, spec.StopAt)
	} else {
		decision.Reason = "FewJobsWait"
		decision.Message = fmt.Sprintf("the depth is less than %d", spec.StartAt)
	}
	if failed != nil {
		decision.Until = depth.At.Add(maxAge)
		decision.Message += "; " + failed.Error()
	}
	return decision, nil
}

// queueOf reads what says where the queue is.
func queueOf(spec QueueDepthScheduleSpec) (queue, error) {
	address, err := url.Parse(spec.URL)
	switch {
	case err != nil:
		return queue{}, errors.New("spec.url is no URL") // the error would quote it
	case address.Scheme != "http" && address.Scheme != "https", address.Host == "":
		return queue{}, errors.New("spec.url must begin with http:// or https:// and a host")
	case address.User != nil:
		return queue{}, errors.New("spec.url must not hold credentials: put them into a Secret and name its entry in spec.authorizationKey")
	}
	pointer, err := jsonpointer.New(spec.Pointer)
	if err != nil {
		return queue{}, errors.New("spec.pointer must be empty or begin with a slash")
	}
	return queue{address: address, pointer: pointer}, nil
}

// authorization returns the header that an entry of the Secret holds.
func authorization(ctx context.Context, key string) (string, error) {
	secret, err := credentials.Get(ctx, "queue-depth-credentials")
	if err != nil {
		return "", err
	}
	header, ok := secret.Data[key]
	if !ok {
		return "", sdk.NotReady("CredentialsMissing", fmt.Errorf("the Secret %q has no entry %q", secret.Name, key))
	}
	return string(header), nil
}
