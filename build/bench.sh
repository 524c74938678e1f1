#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every benchmark. `make bench` builds what it needs and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
source build/steps.sh

# One package at a time, so that none disturbs another.
bench=(go test -run='^$' -bench=. -benchmem -p=1 -timeout=60m)
for module in $(modules); do
  packages=$(cd "$module" && go list ./... | grep -v '/test/system$')
  # shellcheck disable=SC2086 # one word a package
  step "bench $module" "$module" "${bench[@]}" $packages
done
# Real machines take seconds, so they are counted, not timed.
step "bench test/system" . "${bench[@]}" -benchtime=20x ./test/system
summarize
