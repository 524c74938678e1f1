// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refused reports whether the API server does not let a pod go for now, and why.
func refused(err error) (why string, is bool) {
	switch {
	case apierrors.IsTooManyRequests(err):
		return budget(err), true
	case apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The namespace controller deletes the pod, without an eviction.
		return "its namespace is being deleted", true
	}
	return "", false
}

// failed reports whether an eviction came to nothing for a cause that may be the
// pod's own, and in our own words which answer it got. Others may go meanwhile.
func failed(err error) (why string, is bool) {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || apierrors.IsUnexpectedServerError(err) {
		return "", false // it is not the API server that answers
	}
	switch code := status.Status().Code; code {
	case 0, http.StatusUnauthorized, http.StatusNotFound:
		return "", false
	case http.StatusForbidden:
		return answers(code) + ": the kubeconfig's user lacks the right, or a policy of the cluster forbids it", true
	case http.StatusInternalServerError:
		return answers(code) + ", as it does where several disruption budgets select the pod", true
	default:
		return answers(code), true
	}
}

func answers(code int32) string { return fmt.Sprintf("the API server answers with HTTP %d", code) }

// wordLimit bounds what is passed on of an API server's words, in bytes.
const wordLimit = 200

// budget returns what the API server says of the budget that is in the way. It
// is the one sentence of a workload cluster that is passed on: a cause of its own
// type, printable and cut short.
func budget(err error) string {
	const otherwise = "the API server puts evictions off (HTTP 429)"
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return otherwise
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == policyv1.DisruptionBudgetCause && cause.Message != "" {
			return clip(cause.Message)
		}
	}
	return otherwise
}

func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if len(text) > wordLimit {
		text = strings.ToValidUTF8(text[:wordLimit], "") + "…"
	}
	return text
}

// unsupported reports whether it is not the pod that is not found but evictions
// as such: then the API server does not name the pod, or it answers with
// something else than a status.
func unsupported(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return true
	}
	return status.Status().Details.Name == "" || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
