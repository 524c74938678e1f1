// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An edit replaces text in one file. A file that does not hold the text exactly
// count times is an error, so that a new version of Cluster API cannot quietly
// go back to listening on all interfaces.
type edit struct {
	file     string
	old, new string
	count    int
}

const (
	webhookPort     = "Port:     webhookPort,"
	loopbackWebhook = `Host: "127.0.0.1", Port: webhookPort,`
)

var coreEdits = []edit{
	{"core/main.go", webhookPort, loopbackWebhook, 1},
	{"bootstrap/kubeadm/main.go", webhookPort, loopbackWebhook, 1},
	{"controlplane/kubeadm/main.go", webhookPort, loopbackWebhook, 1},
	// How soon a connection to a workload cluster is tried again. The first try
	// comes before the cluster has an API server; half a minute later is long
	// after an in-memory one is up.
	{
		"controllers/clustercache/cluster_cache.go",
		"ConnectionCreationRetryInterval: 30 * time.Second,",
		"ConnectionCreationRetryInterval: time.Second,",
		1,
	},
}

var testEdits = []edit{
	{"infrastructure/docker/main.go", webhookPort, loopbackWebhook, 1},
	// The API servers of the in-memory workload clusters.
	{
		"infrastructure/inmemory/pkg/server/mux.go",
		`net.Listen("tcp", fmt.Sprintf(":%d", wcl.Port()))`,
		`net.Listen("tcp", wcl.HostPort())`,
		2,
	},
	// Their debug server. Its port is fixed, and two managers could not run on
	// one machine.
	{
		"infrastructure/inmemory/pkg/server/mux.go",
		`net.Listen("tcp", fmt.Sprintf(":%d", options.DebugPort))`,
		`net.Listen("tcp", net.JoinHostPort(host, "0"))`,
		1,
	},
}

func applyEdits(dir string, edits []edit) error {
	for _, e := range edits {
		path := filepath.Join(dir, e.file)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(string(content), e.old); n != e.count {
			return fmt.Errorf("%s holds %q %d times, not %d: adapt the edit to this version of Cluster API", e.file, e.old, n, e.count)
		}
		edited := strings.ReplaceAll(string(content), e.old, e.new)
		if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// copySources copies what a build of the module needs: neither documents nor
// tests nor other modules that are nested in it.
func copySources(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipDir(relative) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return copyFile(path, filepath.Join(to, relative))
	})
}

func skipDir(relative string) bool {
	switch relative {
	case "CHANGELOG", "docs", "e2e", ".github":
		return true
	}
	return filepath.Base(relative) == "testdata"
}

// copyFile makes a writable copy; files of the module cache are read-only.
func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
