#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every benchmark. `make bench` builds what it needs and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
source build/steps.sh

for module in $(modules); do
  # One package at a time, so that none disturbs another.
  step "bench $module" "$module" go test -run='^$' -bench=. -benchmem -p=1 -timeout=60m ./...
done
summarize
