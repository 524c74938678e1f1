// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fivespot/fivespot/internal/process"
)

// reader is somebody who has built the programs, and nothing else yet: a home of
// their own, an empty directory, and a shell in it.
type reader struct {
	t   *testing.T
	ctx context.Context

	environment []string
	stdin       io.Writer
	stdout      *bufio.Reader
	stderr      bytes.Buffer
	// dir is where the shell is, and printed what it printed last.
	dir, printed string
}

func newReader(ctx context.Context, t *testing.T) *reader {
	t.Helper()
	r := &reader{t: t, ctx: ctx, environment: readersEnvironment(ctx, t), dir: t.TempDir()}
	shell := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-e")
	shell.Dir, shell.Env = r.dir, append(os.Environ(), r.environment...)
	shell.Stderr = &r.stderr
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	r.stdin, r.stdout = stdin, bufio.NewReader(stdout)
	t.Cleanup(func() {
		err := errors.Join(stdin.Close(), shell.Wait())
		if t.Failed() {
			t.Logf("the shell ended with %v; on standard error it said:\n%s", err, r.stderr.String())
		}
	})
	return r
}

// readersEnvironment has the programs that are built here before all others, and
// of whoever runs the tests nothing but what Go keeps.
func readersEnvironment(ctx context.Context, t *testing.T) []string {
	t.Helper()
	programs, err := filepath.Abs(filepath.Join(root, "bin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fivespot", "kubectl"} {
		if _, err := os.Stat(filepath.Join(programs, name)); err != nil {
			t.Fatalf("%v: run `make build`", err)
		}
	}
	environment := []string{
		"HOME=" + t.TempDir(), "XDG_STATE_HOME=", "KUBECONFIG=", "MAKEFLAGS=", "MAKELEVEL=", "GOWORK=off",
		"PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH"),
		// For `make conformance`: a shorter idle minute, and a longer moment.
		"FLAGS=--idle-for=2s --react-within=10s",
	}
	text, err := exec.CommandContext(ctx, "go", "env", "-json", "GOPATH", "GOMODCACHE", "GOCACHE", "GOENV").Output()
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]string
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	for name, value := range kept {
		environment = append(environment, name+"="+value)
	}
	return environment
}

// endMark is a line that no command prints.
const endMark = "--- the commands have ended in "

// enter types commands into the shell, of which each has to succeed.
func (r *reader) enter(commands string) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.stdin, "{\n%s} </dev/null\necho; echo \"%s$PWD\"\n", commands, endMark); err != nil {
		r.t.Fatalf("the shell has ended: %v", err)
	}
	var printed strings.Builder
	for {
		line, err := r.stdout.ReadString('\n')
		if err != nil {
			r.t.Fatalf("%sfail: %v; they printed:\n%s", commands, errors.Join(err, r.ctx.Err()), printed.String())
		}
		if dir, ended := strings.CutPrefix(strings.TrimSuffix(line, "\n"), endMark); ended {
			r.dir = dir
			break
		}
		printed.WriteString(line)
	}
	r.printed = strings.TrimSuffix(printed.String(), "\n") // echo's
}

// open types a command into a terminal of its own, and returns when it has said
// what it has to say. It goes on until the test ends.
func (r *reader) open(terminal, command, until string) {
	r.t.Helper()
	log := filepath.Join(r.t.TempDir(), "log")
	running, err := process.Start(r.ctx, process.Options{
		Name: terminal,
		Path: "/bin/bash", Args: []string{"-c", command},
		Dir: r.dir, Env: r.environment, Log: log, StopTimeout: time.Minute,
		Ready: func(context.Context) error {
			if said, err := os.ReadFile(log); err != nil || !bytes.Contains(said, []byte(until)) {
				return errors.Join(fmt.Errorf("it has not said %q", until), err)
			}
			return nil
		},
	})
	if err != nil {
		said, _ := os.ReadFile(log)
		r.t.Fatalf("%s%v; it said:\n%s", command, err, said)
	}
	r.t.Cleanup(func() {
		if err := running.Stop(); err != nil {
			r.t.Error(err)
		}
		if r.t.Failed() {
			said, _ := os.ReadFile(log)
			r.t.Logf("the end of what %s said:\n%s", terminal, said[max(0, len(said)-4096):])
		}
	})
}

// write makes a file, or replaces it.
func (r *reader) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// edit puts a declaration into the place of the one of its name.
func (r *reader) edit(name, declaration string) {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	wanted, _, _ := declared(r.t, "package main\n"+declaration, "")
	_, from, to := declared(r.t, string(text), wanted)
	r.write(name, string(slices.Concat(text[:from], []byte(strings.TrimSuffix(declaration, "\n")), text[to:])))
}

// declared finds a declaration of a type or function by its name, or the first
// one, and returns where it begins, with its comment, and where it ends.
func declared(t *testing.T, source, wanted string) (name string, from, to int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		name, comment := "", (*ast.CommentGroup)(nil)
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			name, comment = d.Name.Name, d.Doc
		case *ast.GenDecl:
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
				name, comment = spec.Name.Name, d.Doc
			}
		}
		if name == "" || wanted != "" && name != wanted {
			continue
		}
		begin := declaration.Pos()
		if comment != nil {
			begin = comment.Pos()
		}
		return name, files.Position(begin).Offset, files.Position(declaration.End()).Offset
	}
	t.Fatalf("there is no declaration of %q in\n%s", wanted, source)
	return "", 0, 0
}
