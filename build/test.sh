#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Vets, lints and tests every module of the tree. `make test` builds what it
# needs and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
source build/steps.sh

root=$PWD
for module in $(modules); do
  step "vet $module" "$module" go vet ./...
done
for module in $(modules); do
  step "lint $module" "$module" "$root/bin/golangci-lint" run
done
for module in $(modules); do
  # -parallel: most tests wait for a control plane, not for a core.
  # -count=1: tests run programs of bin/, of which Go's test cache knows nothing.
  step "test $module" "$module" go test -count=1 -parallel=8 -timeout=30m ./...
done
summarize
