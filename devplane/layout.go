// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// layout names the files of one control plane.
type layout string

func (l layout) path(elements ...string) string {
	return filepath.Join(append([]string{string(l)}, elements...)...)
}

func (l layout) lock() string        { return l.path("devplane.lock") }
func (l layout) port() string        { return l.path("devplane.port") }
func (l layout) kubeconfig() string  { return l.path("kubeconfig") }
func (l layout) etcd() string        { return l.path("etcd") }
func (l layout) auditLog() string    { return l.path("logs", "audit.log") }
func (l layout) auditPolicy() string { return l.path("audit-policy.yaml") }
func (l layout) certificate(name string) string {
	return l.path("pki", name+".crt")
}

func (l layout) key(name string) string {
	return l.path("pki", name+".key")
}

// make creates the directories. They hold private keys and secrets, so only
// the owner may enter.
func (l layout) make() error {
	for _, dir := range []string{string(l), l.path("pki"), l.path("logs"), l.etcd()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making the directories under --dir: %w", err)
		}
	}
	if err := os.Chmod(string(l), 0o700); err != nil {
		return fmt.Errorf("closing --dir to other users: %w", err)
	}
	return nil
}
