#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Lints every module of the tree. `make lint` builds the linter and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
source build/steps.sh

root=$PWD
for module in $(modules); do
  step "lint $module" "$module" "$root/bin/golangci-lint" run
done
summarize
