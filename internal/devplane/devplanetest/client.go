// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"fmt"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	spotschedulesv1alpha1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	fivespotv1beta1 "github.com/fivespot/fivespot/api/v1beta1"
)

// Scheme returns a scheme with the kinds of Kubernetes, of
// CustomResourceDefinitions and of this project. Any other kind goes by
// unstructured.Unstructured.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(fivespotv1beta1.AddToScheme(s))
	utilruntime.Must(spotschedulesv1alpha1.AddToScheme(s))
	return s
})

// Client returns a client that may do everything and reads from the API server,
// not from a cache.
func Client(t testing.TB) client.WithWatch {
	t.Helper()
	return ClientFor(t, Plane(t).Config())
}

// ClientFor is Client for another user; see the configurations that a
// devplane.Plane makes.
func ClientFor(t testing.TB, config *rest.Config) client.WithWatch {
	t.Helper()
	c, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newClient(config *rest.Config) (client.WithWatch, error) {
	c, err := client.NewWithWatch(config, client.Options{Scheme: Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}
