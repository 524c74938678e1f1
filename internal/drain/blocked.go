// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"errors"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// blocking reports whether an eviction was refused for now, and why.
func blocking(err error) (why string, blocked bool) {
	switch {
	case apierrors.IsTooManyRequests(err):
		return budget(err), true
	case apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The namespace controller deletes the pod, without an eviction.
		return "its namespace is being deleted", true
	}
	return "", false
}

// wordLimit bounds what is passed on of an API server's words, in bytes.
const wordLimit = 200

// budget returns what the API server says of the budget that is in the way. It
// is the one text of a workload cluster that is passed on: a cause of its own
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
