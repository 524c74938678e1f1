// SPDX-License-Identifier: Apache-2.0

// Command prepare makes what the Cluster API managers of this module are built
// from and run with:
//
//   - OUT/src: a copy of Cluster API's modules in which every server listens on
//     127.0.0.1 instead of on all interfaces, and connections to workload
//     clusters are tried again sooner (there are no flags for it);
//   - OUT/go.mod, OUT/go.sum: this module's files with the copies put in place,
//     for go build's -modfile;
//   - OUT/crds: the CustomResourceDefinitions, as they are needed where no
//     conversion webhook is served.
//
// It runs in the directory of this module. Nothing here runs in production.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	coreModule = "sigs.k8s.io/cluster-api"
	testModule = "sigs.k8s.io/cluster-api/test"
)

func main() {
	out := flag.String("out", "", "directory to write to (required)")
	flag.Parse()
	if err := prepare(context.Background(), *out); err != nil {
		fmt.Fprintln(flag.CommandLine.Output(), "prepare:", err)
		os.Exit(1)
	}
}

func prepare(ctx context.Context, out string) error {
	if out == "" {
		return errors.New("-out is missing: name the directory to write to")
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	core, err := moduleDir(ctx, coreModule)
	if err != nil {
		return err
	}
	test, err := moduleDir(ctx, testModule)
	if err != nil {
		return err
	}

	src := filepath.Join(out, "src")
	if err := os.RemoveAll(src); err != nil {
		return fmt.Errorf("removing the sources of an earlier run: %w", err)
	}
	copies := map[string]string{
		coreModule: filepath.Join(src, "cluster-api"),
		testModule: filepath.Join(src, "cluster-api-test"),
	}
	if err := copySources(core, copies[coreModule]); err != nil {
		return err
	}
	if err := copySources(test, copies[testModule]); err != nil {
		return err
	}
	if err := applyEdits(copies[coreModule], coreEdits); err != nil {
		return err
	}
	if err := applyEdits(copies[testModule], testEdits); err != nil {
		return err
	}
	if err := writeModFiles(ctx, out, copies); err != nil {
		return err
	}
	return writeCRDs(filepath.Join(out, "crds"), core, test)
}

// moduleDir returns the directory of a module of the build list, downloading
// the module if it is not in the module cache.
func moduleDir(ctx context.Context, module string) (string, error) {
	// go list leaves Dir empty for a module that is not in the cache yet.
	if _, err := goCommand(ctx, "mod", "download", module); err != nil {
		return "", err
	}
	dir, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	if dir == "" {
		return "", fmt.Errorf("module %s is not in the module cache after its download", module)
	}
	return dir, nil
}

// writeModFiles writes OUT/go.mod and OUT/go.sum: those of this module, with
// each module of copies replaced by its copy.
func writeModFiles(ctx context.Context, out string, copies map[string]string) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(name, filepath.Join(out, name)); err != nil {
			return err
		}
	}
	args := []string{"mod", "edit"}
	for module, dir := range copies {
		args = append(args, "-replace", module+"="+dir)
	}
	_, err := goCommand(ctx, append(args, filepath.Join(out, "go.mod"))...)
	return err
}

func goCommand(ctx context.Context, args ...string) (string, error) {
	var words bytes.Buffer
	command := exec.CommandContext(ctx, "go", args...)
	command.Stderr = &words
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, words.String())
	}
	return strings.TrimSpace(string(output)), nil
}
