// SPDX-License-Identifier: Apache-2.0

package devplane

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/google/uuid"
	"k8s.io/client-go/kubernetes"
)

// AuditLog returns the path of the API server's audit log: one event per line
// in JSON (audit.k8s.io/v1, level Metadata: no bodies). OpenAuditLog reads it.
func (p *Plane) AuditLog() string { return filepath.Join(p.dir, "logs", "audit.log") }

// AuditUntilNow returns what r has not yet read of the requests that ended
// before this call, and possibly a few later ones, but not this call's own.
//
// A line is written shortly after its answer is sent. This call therefore makes
// one request of its own and reads until that one's line is there.
func (p *Plane) AuditUntilNow(ctx context.Context, r *AuditReader) ([]AuditEvent, error) {
	config := p.Config()
	config.UserAgent = "devplane-audit/" + uuid.NewString()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if err := client.RESTClient().Get().AbsPath("/livez/ping").Do(ctx).Error(); err != nil {
		return nil, fmt.Errorf("marking the end in the audit log: %w", err)
	}
	mine := func(e AuditEvent) bool { return e.UserAgent == config.UserAgent }
	events, err := r.Await(ctx, mine)
	if err != nil {
		return nil, err
	}
	others := events[:0]
	for _, event := range events {
		if !mine(event) {
			others = append(others, event)
		}
	}
	return others, nil
}
