// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// writeCRDs writes the CustomResourceDefinitions of the four managers to dir,
// one file each, under the names that they have in their modules.
func writeCRDs(dir, core, test string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the definitions of an earlier run: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, bases := range []string{
		filepath.Join(core, "core/config/crd/bases"),
		filepath.Join(core, "bootstrap/kubeadm/config/crd/bases"),
		filepath.Join(core, "controlplane/kubeadm/config/crd/bases"),
		filepath.Join(test, "infrastructure/docker/config/crd/bases"),
	} {
		files, err := filepath.Glob(filepath.Join(bases, "*.yaml"))
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("%s holds no definitions", bases)
		}
		for _, file := range files {
			if err := writeCRD(file, filepath.Join(dir, filepath.Base(file))); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeCRD(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	adapted, err := adaptCRD(content)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(from), err)
	}
	return os.WriteFile(to, adapted, 0o644)
}

// adaptCRD adds what Cluster API's own kustomizations add, but for the
// conversion webhook, which is not served here: the labels by which Cluster API
// finds the version of a kind that keeps its contract.
func adaptCRD(content []byte) ([]byte, error) {
	var crd map[string]any
	if err := yaml.Unmarshal(content, &crd); err != nil {
		return nil, err
	}
	metadata, ok := crd["metadata"].(map[string]any)
	if !ok {
		return nil, errors.New("metadata is missing")
	}
	spec, ok := crd["spec"].(map[string]any)
	if !ok {
		return nil, errors.New("spec is missing")
	}
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	labels["cluster.x-k8s.io/v1beta1"] = "v1beta1"
	labels["cluster.x-k8s.io/v1beta2"] = "v1beta2"
	metadata["labels"] = labels
	spec["conversion"] = map[string]any{"strategy": "None"}
	return yaml.Marshal(crd)
}
