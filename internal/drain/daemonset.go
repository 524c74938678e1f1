// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
)

// reader keeps the error with which a DaemonSet could not be read. kubectl's library
// passes no more than its text on, which does not tell what kind of error it was
// and may not be shown; and it would ask on for the DaemonSet of each other pod, and
// wait each time where the cluster does not answer.
type reader struct {
	kubernetes.Interface

	err error
}

// AppsV1 implements kubernetes.Interface.
func (r *reader) AppsV1() appsv1client.AppsV1Interface { return apps{r.Interface.AppsV1(), r} }

type apps struct {
	appsv1client.AppsV1Interface

	reader *reader
}

// DaemonSets implements appsv1client.DaemonSetsGetter.
func (a apps) DaemonSets(namespace string) appsv1client.DaemonSetInterface {
	return daemonSets{a.AppsV1Interface.DaemonSets(namespace), a.reader}
}

type daemonSets struct {
	appsv1client.DaemonSetInterface

	reader *reader
}

// Get implements appsv1client.DaemonSetInterface.
func (d daemonSets) Get(ctx context.Context, name string, options metav1.GetOptions) (*appsv1.DaemonSet, error) {
	if d.reader.err != nil {
		return nil, d.reader.err
	}
	daemonSet, err := d.DaemonSetInterface.Get(ctx, name, options)
	if err != nil && !apierrors.IsNotFound(err) {
		d.reader.err = err
	}
	return daemonSet, err
}
