// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinksResolve(t *testing.T) {
	all := pages(t)
	for _, p := range all {
		for _, target := range p.links() {
			file, anchor, hasAnchor := strings.Cut(target, "#")
			name := p.name
			if file != "" {
				name = filepath.Join(filepath.Dir(p.name), file)
			}
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s links to %s, which does not exist", p.name, target)
				continue
			}
			if to, isPage := all[name]; hasAnchor && (!isPage || !to.anchors[anchor]) {
				t.Errorf("%s links to %s: there is no such heading", p.name, target)
			}
		}
	}
}

func TestEveryPageIsLinkedFromAnother(t *testing.T) {
	all := pages(t)
	linked := map[string]bool{"README.md": true}
	for _, p := range all {
		for _, target := range p.links() {
			file, _, _ := strings.Cut(target, "#")
			target = filepath.Join(filepath.Dir(p.name), file)
			if info, err := os.Stat(filepath.Join(root, target)); err == nil && info.IsDir() {
				target = filepath.Join(target, "README.md")
			}
			if target != p.name {
				linked[target] = true
			}
		}
	}
	for name := range all {
		if !linked[name] {
			t.Errorf("no page links to %s", name)
		}
	}
}
