// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
)

// Deployed returns a Setup that applies files of deploy/, each by a path or a
// pattern of paths, in the order given.
func Deployed(patterns ...string) Setup { return files(deploy.FS, patterns) }

// ClusterAPI returns a Setup that installs those of Cluster API's
// CustomResourceDefinitions whose file, GROUP_PLURAL.yaml, matches a pattern. Its
// managers do not run: the tests play their part.
func ClusterAPI(patterns ...string) Setup {
	return func(p *devplane.Plane) error {
		root, err := devplane.SourceRoot()
		if err != nil {
			return err
		}
		if err := files(os.DirFS(filepath.Join(root, "bin", "capi", "crds")), patterns)(p); err != nil {
			return fmt.Errorf("installing Cluster API's definitions, which `make build` makes: %w", err)
		}
		return nil
	}
}

// files applies the files of a tree that match patterns as one manifest. A
// pattern that matches none is a mistake.
func files(tree fs.FS, patterns []string) Setup {
	return func(p *devplane.Plane) error {
		var manifests []string
		for _, pattern := range patterns {
			matching, err := fs.Glob(tree, pattern)
			if err != nil {
				return err
			}
			if len(matching) == 0 {
				return fmt.Errorf("no file is named %s", pattern)
			}
			for _, file := range matching {
				content, err := fs.ReadFile(tree, file)
				if err != nil {
					return err
				}
				manifests = append(manifests, string(content))
			}
		}
		if err := Manifest([]byte(strings.Join(manifests, "\n---\n")))(p); err != nil {
			return fmt.Errorf("applying %s: %w", strings.Join(patterns, ", "), err)
		}
		return nil
	}
}
