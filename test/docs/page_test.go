// SPDX-License-Identifier: Apache-2.0

// Package docs checks that the documentation says what the program does, as far
// as a program can check that.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

// page is one Markdown file.
type page struct {
	name     string // relative to the root of the tree
	headings []string
	anchors  map[string]bool
	prose    string  // without fenced code
	blocks   []block // fenced code
}

// block is fenced code, and the last line of prose before it.
type block struct{ language, before, text string }

// pages reads every Markdown file that people read.
func pages(t *testing.T) map[string]page {
	t.Helper()
	all := map[string]page{}
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		all[name] = readPage(t, name)
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			name, err := filepath.Rel(root, path)
			all[name] = readPage(t, name)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found only %d pages", len(all))
	}
	return all
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	p := page{name: name, anchors: map[string]bool{}}
	var prose strings.Builder
	var open *block
	before := ""
	for line := range strings.Lines(read(t, name)) {
		text := strings.TrimRight(line, "\n")
		fence, isFence := strings.CutPrefix(text, "```")
		switch {
		case isFence && open == nil:
			open = &block{language: fence, before: before}
		case isFence:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		default:
			prose.WriteString(line)
			if strings.TrimSpace(text) != "" {
				before = text
			}
			p.addHeading(text)
			for _, match := range htmlAnchor.FindAllStringSubmatch(text, -1) {
				p.anchors[match[1]] = true
			}
		}
	}
	if open != nil {
		t.Errorf("%s: fenced code is not closed", name)
	}
	p.prose = prose.String()
	return p
}

// addHeading notes a line that is a heading, and its anchor as code hosts make it.
func (p *page) addHeading(line string) {
	text := strings.TrimLeft(line, "#")
	if len(text) == len(line) || !strings.HasPrefix(text, " ") {
		return
	}
	text = strings.ReplaceAll(strings.TrimSpace(text), "`", "")
	p.headings = append(p.headings, text)
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	anchor := slug
	for n := 1; p.anchors[anchor]; n++ {
		anchor = fmt.Sprintf("%s-%d", slug, n)
	}
	p.anchors[anchor] = true
}

// htmlAnchor is a place to link to that is no heading.
var htmlAnchor = regexp.MustCompile(`<a id="([^"]+)"></a>`)

// link is a Markdown link or image, or the source of an HTML image.
var link = regexp.MustCompile(`\]\(([^()\s]+)\)|src="([^"]+)"`)

// links returns the targets within this tree that the prose links to.
func (p *page) links() []string {
	var all []string
	for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(p.prose, ""), -1) {
		if target := match[1] + match[2]; !strings.Contains(target, "://") {
			all = append(all, target)
		}
	}
	return all
}

var code = regexp.MustCompile("`([^`]+)`")

// quoted returns what the prose quotes in backticks.
func (p *page) quoted() []string {
	var all []string
	for _, match := range code.FindAllStringSubmatch(p.prose, -1) {
		all = append(all, match[1])
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
