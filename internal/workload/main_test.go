// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// logged is what client-go has logged.
var logged recording

func TestMain(m *testing.M) {
	klog.SetLogger(funcr.New(func(_, args string) { logged.add(args) }, funcr.Options{}))
	devplanetest.Main(m)
}

// recording keeps text.
type recording struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *recording) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(line + "\n")
}

func (r *recording) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
