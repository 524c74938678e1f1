// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Reasons of the condition ChildClusterReachable, beside v1beta1.ReasonReachable.
const (
	// ReasonConnecting: not known yet.
	ReasonConnecting = "Connecting"
	// ReasonKubeconfigNotFound: there is no such Secret, or it has no such key.
	ReasonKubeconfigNotFound = "KubeconfigNotFound"
	// ReasonKubeconfigInvalid: what is there is no usable kubeconfig.
	ReasonKubeconfigInvalid = "KubeconfigInvalid"
	// ReasonKubeconfigRefused: the kubeconfig asks for something that is not done
	// for a tenant, such as running a program or reading a file.
	ReasonKubeconfigRefused = "KubeconfigRefused"
	// ReasonKubeconfigUnreadable: the management cluster does not show the Secret.
	ReasonKubeconfigUnreadable = "KubeconfigUnreadable"
	// ReasonUnreachable: the API server does not answer.
	ReasonUnreachable = "Unreachable"
	// ReasonCertificateNotTrusted: the API server cannot prove who it is.
	ReasonCertificateNotTrusted = "CertificateNotTrusted"
	// ReasonUnauthorized: the API server does not know the credentials.
	ReasonUnauthorized = "Unauthorized"
	// ReasonForbidden: the credentials lack a right.
	ReasonForbidden = "Forbidden"
	// ReasonUnexpectedAnswer: what answers does not answer as an API server should.
	ReasonUnexpectedAnswer = "UnexpectedAnswer"
	// ReasonTooManyClusters: more clusters are in use than one controller keeps.
	ReasonTooManyClusters = "TooManyClusters"
)

// fault is why a cluster cannot be reached. Its text is made here, of nothing
// that the cluster said.
type fault struct {
	reason, message string
	// label is the metric's.
	label string
	// cause is for callers that choose by an error's type; its text is not shown.
	cause error
}

// Error implements error.
func (f *fault) Error() string { return f.message }

// Unwrap lets client-go see what kind of error it was.
func (f *fault) Unwrap() error { return f.cause }

// Explain says in words of our own why a request of a View's client failed, for
// an error's own words may be the server's. what is what was asked for, such as
// "patch Nodes".
func Explain(err error, what string) string {
	return classify(err, "the API server of the workload cluster", what).message
}

// classify says in words of our own why a request failed. where names the API
// server, what is what was asked for.
func classify(err error, where, what string) *fault {
	if already, is := errors.AsType[*fault](err); is {
		return already
	}
	f := &fault{label: "unreachable", cause: err}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		f.answered(int(status.Status().Code), where, what)
		return f
	}
	reason, how := unanswered(err)
	f.reason, f.message = reason, where+" "+how
	return f
}

// answered describes an answer by its HTTP status alone.
func (f *fault) answered(code int, where, what string) {
	f.label = "kube_error"
	switch code {
	case http.StatusUnauthorized:
		f.reason, f.message = ReasonUnauthorized, where+" does not accept the kubeconfig's credentials (HTTP 401)"
	case http.StatusForbidden:
		f.reason, f.message = ReasonForbidden, where+" does not let the kubeconfig's user "+what+" (HTTP 403)"
	case 0:
		f.reason, f.message = ReasonUnexpectedAnswer, where+" does not answer as a Kubernetes API server does"
	default:
		f.reason, f.message = ReasonUnexpectedAnswer, fmt.Sprintf("%s answers a request to %s with HTTP %d", where, what, code)
	}
}

// unanswered says why there is no answer that could be read.
func unanswered(err error) (reason, how string) {
	if untrusted(err) {
		return ReasonCertificateNotTrusted, "shows a certificate that the kubeconfig's certificate authority did not sign, or not for this address, or that is not valid now"
	}
	if _, is := errors.AsType[*net.DNSError](err); is {
		return ReasonUnreachable, "is not known to DNS"
	}
	_, isNoTLS := errors.AsType[tls.RecordHeaderError](err)
	network, is := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errLinkLocal):
		return ReasonUnreachable, "is a link-local address, where no API server is looked for"
	case errors.Is(err, errClosed):
		return ReasonUnreachable, "is no longer spoken to by way of a kubeconfig that was replaced or taken away"
	case errors.Is(err, errRedirect):
		return ReasonUnexpectedAnswer, "answers with a redirect, which is not followed"
	case errors.Is(err, http.ErrSchemeMismatch), isNoTLS:
		return ReasonUnexpectedAnswer, "does not speak TLS"
	case errors.Is(err, errTooLarge):
		return ReasonUnexpectedAnswer, "answers with more than is read of it"
	case errors.Is(err, syscall.ECONNREFUSED):
		return ReasonUnreachable, "refuses connections"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return ReasonUnreachable, "cannot be routed to"
	case errors.Is(err, context.DeadlineExceeded), is && network.Timeout():
		return ReasonUnreachable, "does not answer in time"
	case errors.Is(err, errBrokenOff):
		return ReasonUnreachable, "breaks its answer off"
	case is: // also a *url.Error, which wraps all that happens on the way
		return ReasonUnreachable, "closes the connection without an answer"
	}
	return ReasonUnexpectedAnswer, "does not answer as a Kubernetes API server does"
}

func untrusted(err error) bool {
	if _, is := errors.AsType[x509.UnknownAuthorityError](err); is {
		return true
	}
	if _, is := errors.AsType[x509.HostnameError](err); is {
		return true
	}
	_, is := errors.AsType[x509.CertificateInvalidError](err)
	return is
}

// unreadable says that the management cluster does not show a Secret.
func unreadable(err error, key secretKey) *fault {
	f := &fault{reason: ReasonKubeconfigUnreadable, label: "non_404_kube_error", cause: err}
	f.message = fmt.Sprintf("Secret %s in namespace %s cannot be read from the management cluster", key.Name, key.Namespace)
	if apierrors.IsForbidden(err) {
		f.message += ": the controller's account lacks the right to list and watch Secrets there"
	}
	return f
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
