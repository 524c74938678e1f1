// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are the commands of cmd/, in the order of the page.
var programs = []string{"fivespot", "controller", "provider"}

const cliHeader = `# Commands

Three programs, and what each says with ` + "`--help`" + `. A flag may be written with
one dash or with two in ` + "`provider`" + `, with two in the others.

`

// cliPage returns the page about the commands: their own help, word for word.
func cliPage(ctx context.Context, root string) (string, error) {
	bin, err := os.MkdirTemp("", "fivespot-docs-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(bin)
	var page strings.Builder
	page.WriteString(cliHeader)
	for _, program := range programs {
		path := filepath.Join(bin, program)
		build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/"+program)
		build.Dir = root
		if output, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", program, err, output)
		}
		if err := writeHelp(ctx, &page, path, program); err != nil {
			return "", err
		}
	}
	return strings.TrimRight(page.String(), "\n") + "\n", nil
}

// writeHelp writes the help of a command and of those below it.
func writeHelp(ctx context.Context, page *strings.Builder, path string, words ...string) error {
	arguments := append(append([]string{}, words[1:]...), "--help")
	// The flag package of the standard library writes to standard error.
	help, err := exec.CommandContext(ctx, path, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("asking %s for its help: %w", strings.Join(words, " "), err)
	}
	fmt.Fprintf(page, "## %s\n\n```text\n%s\n```\n\n", strings.Join(words, " "), trimLines(string(help)))
	for _, verb := range verbs(string(help)) {
		if err := writeHelp(ctx, page, path, append(append([]string{}, words...), verb)...); err != nil {
			return err
		}
	}
	return nil
}

// trimLines takes the spaces off the ends of lines, and empty lines off the end.
func trimLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// verbs returns the commands that a help text lists, but for those that cobra
// adds to every program.
func verbs(help string) []string {
	var found []string
	listing := false
	scanner := bufio.NewScanner(strings.NewReader(help))
	for scanner.Scan() {
		line := scanner.Text()
		words := strings.Fields(line)
		switch {
		case line == "Available Commands:":
			listing = true
		case len(words) == 0:
			listing = false
		case listing && words[0] != "help" && words[0] != "completion":
			found = append(found, words[0])
		}
	}
	return found
}
