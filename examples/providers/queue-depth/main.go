// SPDX-License-Identifier: Apache-2.0

// The provider of QueueDepthSchedule publishes the verdict of every object of its
// kind: active while jobs wait in a queue that is asked over HTTP.
//
// +groupName=spotschedules.5spot.finos.org
// +versionName=v1alpha1
package main

import (
	"net/http"

	"github.com/fivespot/fivespot/sdk"
)

func provider(client *http.Client) *sdk.Provider {
	return sdk.New(kind, evaluator{client}.Evaluate, sdk.WithReads(credentials))
}

func main() { sdk.Main(provider(newClient())) }
