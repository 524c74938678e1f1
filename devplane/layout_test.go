// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newLayout(t *testing.T) layout {
	t.Helper()
	l := layout(t.TempDir())
	if err := l.make(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNobodyElseMayEnterOrRead(t *testing.T) {
	l := newLayout(t)
	if _, err := l.ensurePKI(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(string(l), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %o", path, mode)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnOpenDirectoryIsClosed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := layout(dir).make(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("mode is %o, want 700", got)
	}
}

func TestSecondRunKeepsKeysAndCertificates(t *testing.T) {
	l := newLayout(t)
	if _, err := l.ensurePKI(); err != nil {
		t.Fatal(err)
	}
	before := files(t, l.path("pki"))
	if err := os.Remove(l.certificate(adminPair)); err != nil { // killed before it was written
		t.Fatal(err)
	}
	if _, err := l.ensurePKI(); err != nil {
		t.Fatal(err)
	}
	after := files(t, l.path("pki"))
	admin := filepath.Base(l.certificate(adminPair))
	if after[admin] == "" {
		t.Error("the missing certificate was not made")
	}
	delete(before, admin)
	delete(after, admin)
	if !cmp.Equal(before, after) {
		t.Error("the second run changed what was there") // no diff: it would show keys
	}
}

func TestCertificatesAreGoodForTheirUse(t *testing.T) {
	l := newLayout(t)
	ca, err := l.ensurePKI()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.certificate)
	tests := map[string]struct {
		pair string
		x509.VerifyOptions
	}{
		"server by address": {servingPair, x509.VerifyOptions{DNSName: "127.0.0.1", KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}},
		"server by IPv6":    {servingPair, x509.VerifyOptions{DNSName: "::1", KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}},
		"server by name":    {servingPair, x509.VerifyOptions{DNSName: "kubernetes.default.svc", KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}},
		"admin":             {adminPair, x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(l.certificate(test.pair))
			if err != nil {
				t.Fatal(err)
			}
			block, _ := pem.Decode(content)
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			test.Roots = roots
			if _, err := certificate.Verify(test.VerifyOptions); err != nil {
				t.Error(err)
			}
			if certificate.NotAfter.After(ca.certificate.NotAfter) {
				t.Errorf("it ends at %s, after its authority at %s", certificate.NotAfter, ca.certificate.NotAfter)
			}
		})
	}
}

func TestLock(t *testing.T) {
	l := newLayout(t)
	release, err := l.takeLock()
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.takeLock()
	if err == nil || !strings.Contains(err.Error(), "already runs on "+string(l)) {
		t.Errorf("taken twice: got %v, want that it already runs", err)
	}
	release()
	release, err = l.takeLock()
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	release()
}

func TestPortIsKeptAndGivenUpWhenTaken(t *testing.T) {
	l := newLayout(t)
	o := options{bind: net.IPv4(127, 0, 0, 1)}
	open := func() net.Listener {
		t.Helper()
		listener, err := listen(t.Context(), o, l)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		return listener
	}
	first := open()
	address := first.Addr().String()
	first.Close()
	second := open()
	if got := second.Addr().String(); got != address {
		t.Errorf("second run listens on %s, want %s again", got, address)
	}
	third := open() // while the second still has the port
	if got := third.Addr().String(); got == address {
		t.Errorf("third run, too, listens on %s", got)
	}
	o.port = portOf(third)
	if _, err := listen(t.Context(), o, l); err == nil {
		t.Error("a port that was asked for and is taken is no error")
	}
}

func TestUnreadablePortSaysWhatToDo(t *testing.T) {
	l := newLayout(t)
	if err := writeFile(l.port(), []byte("many\n")); err != nil {
		t.Fatal(err)
	}
	_, err := listen(t.Context(), options{bind: net.IPv4(127, 0, 0, 1)}, l)
	if err == nil || !strings.Contains(err.Error(), "remove "+l.port()) {
		t.Errorf("got %v, want to be told which file to remove", err)
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		contents[entry.Name()] = string(content)
	}
	return contents
}
