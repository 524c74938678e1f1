// SPDX-License-Identifier: Apache-2.0

// Package deploy holds the manifests that install 5-Spot, as kustomize trees,
// so that a program can apply exactly what `kubectl apply -k deploy/` applies.
//
// It imports nothing.
package deploy

import "embed"

// FS holds the trees. Its root is the directory deploy/: kustomization.yaml
// there installs everything but monitoring/, which needs the CRDs of the
// Prometheus operator.
//
//go:embed kustomization.yaml crds controller spot-schedule-providers admission monitoring
var FS embed.FS
