#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every benchmark. `make bench` builds what it needs and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
source build/steps.sh

# Only packages with benchmarks: many others would start a control plane for
# nothing. One after the other, so that none disturbs another.
while read -r package; do
  flags=(-run='^$' -bench=. -benchmem -timeout=60m)
  # Real machines take seconds, so they are counted, not timed.
  [[ $package != test/system ]] || flags+=(-benchtime=20x)
  step "bench $package" "$package" go test "${flags[@]}" .
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Benchmark' | xargs -n1 dirname | sort -u)
summarize
