// SPDX-License-Identifier: Apache-2.0

package devplane

import (
	"encoding/json"
	"fmt"
	"time"
)

// Stages of a request at which the API server writes an event. A request gets
// one event at StageResponseComplete (or StagePanic); a watch, which ends late,
// gets one more at StageResponseStarted. To count requests, count one of the
// two, or AuditIDs.
const (
	StageResponseStarted  = "ResponseStarted"
	StageResponseComplete = "ResponseComplete"
	StagePanic            = "Panic"
)

// AuditEvent is what the audit log says of one request at one stage. Fields
// that do not apply to the request are empty.
type AuditEvent struct {
	// AuditID is the same in all events of one request.
	AuditID string
	// Stage is one of the Stage constants.
	Stage string
	// User is the one whose rights counted: the one impersonated, if any.
	User string
	// Impersonator is the user who impersonated User; empty if nobody did.
	Impersonator string
	// UserAgent is what the client calls itself.
	UserAgent string
	// Verb is get, list, watch, create, update, patch, delete, deletecollection
	// and so on.
	Verb string
	// URI is the path and query as requested.
	URI string
	// Group, Version, Resource, Subresource, Namespace and Name are of the
	// object. The group is empty for the core group, Name for a list and for a
	// creation with a generated name. All are empty for a path that is no
	// resource, such as /healthz.
	Group, Version, Resource, Subresource, Namespace, Name string
	// Code is the HTTP status.
	Code int
	// RequestReceived is when the API server got the request, StageTimestamp
	// when it came to this stage.
	RequestReceived, StageTimestamp time.Time
}

// wire is the part of audit.k8s.io/v1 Event that is read.
//
//nolint:tagliatelle // the names are Kubernetes'
type wire struct {
	AuditID          string    `json:"auditID"`
	Stage            string    `json:"stage"`
	RequestURI       string    `json:"requestURI"`
	Verb             string    `json:"verb"`
	User             wireUser  `json:"user"`
	ImpersonatedUser *wireUser `json:"impersonatedUser"`
	UserAgent        string    `json:"userAgent"`
	ObjectRef        struct {
		APIGroup    string `json:"apiGroup"`
		APIVersion  string `json:"apiVersion"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
	StageTimestamp           time.Time `json:"stageTimestamp"`
}

type wireUser struct {
	Username string `json:"username"`
}

func parseAuditEvent(line []byte) (AuditEvent, error) {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		return AuditEvent{}, fmt.Errorf("reading a line of the audit log: %w", err)
	}
	e := AuditEvent{
		AuditID: w.AuditID, Stage: w.Stage,
		User: w.User.Username, UserAgent: w.UserAgent,
		Verb: w.Verb, URI: w.RequestURI,
		Group: w.ObjectRef.APIGroup, Version: w.ObjectRef.APIVersion,
		Resource: w.ObjectRef.Resource, Subresource: w.ObjectRef.Subresource,
		Namespace: w.ObjectRef.Namespace, Name: w.ObjectRef.Name,
		Code:            w.ResponseStatus.Code,
		RequestReceived: w.RequestReceivedTimestamp, StageTimestamp: w.StageTimestamp,
	}
	if w.ImpersonatedUser != nil {
		e.Impersonator, e.User = e.User, w.ImpersonatedUser.Username
	}
	return e, nil
}
