#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds programs of one Go module and says all the while what is being built,
# how far it is and how long it has taken.
#
#   build/compile.sh TITLE MODULE_DIR OUTPUT=PACKAGE... [-- GO_BUILD_FLAG...]
#
# OUTPUT is relative to the directory that the script is started in. A program
# that is up to date is left alone.
set -euo pipefail

title=$1 dir=$2
shift 2
programs=()
while (($# > 0)) && [[ $1 != -- ]]; do
  programs+=("$1")
  shift
done
(($# == 0)) || shift
flags=("$@")

every=10 # seconds between two lines of progress
scratch=$(mktemp -d)
work=
trap 'rm -rf "$scratch"; [[ -z $work ]] || kill "$work" 2>/dev/null || true' EXIT

say() { printf '%-22s %s (%dm%02ds)\n' "$title" "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# watch PROGRESS COMMAND...: runs the command, its standard error to a file, and
# prints what PROGRESS says of that file every so often. Fails as the command does.
watch() {
  local progress=$1 next=$((SECONDS + every))
  shift
  "$@" 2>"$scratch/stderr" &
  work=$!
  while kill -0 "$work" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS >= next)); then
      say "$("$progress")"
      next=$((SECONDS + every))
    fi
  done
  if ! wait "$work"; then
    work=
    say "failed"
    grep -v '^go: downloading ' "$scratch/stderr" >&2 || true
    exit 1
  fi
  work=
}

lines() { grep -c "$1" "$scratch/stderr" || true; }
downloading() { echo "$output: $(lines '^go: downloading ') modules downloaded"; }
compiling() {
  local done
  done=$(lines '^[A-Za-z0-9_./-]*$')
  if ((done < total)); then
    echo "$output: $done of $total packages compiled"
  else
    echo "$output: linking"
  fi
}

list() { (cd "$dir" && go list -deps -f '{{if .Stale}}stale{{end}}' "${flags[@]}" "$package") >"$scratch/list"; }
build() { (cd "$dir" && go build -v "${flags[@]}" -o "$root/$output" "$package"); }

root=$PWD
for program in "${programs[@]}"; do
  output=${program%%=*}
  package=${program#*=}
  mkdir -p "$(dirname "$output")"
  watch downloading list
  total=$(grep -c stale "$scratch/list" || true)
  ((total <= 1)) || say "$output: compiling $total packages"
  watch compiling build
  say "$output: done"
done
