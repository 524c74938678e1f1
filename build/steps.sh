# SPDX-License-Identifier: Apache-2.0
#
# To be sourced: runs steps one after the other, goes on after one that fails,
# and sums up at the end.

modules() { # the directories of the modules that hold Go of ours
  echo .
  echo devplane
  echo test/capi
  echo tools/apidiff
  for file in examples/providers/*/go.mod; do
    [[ ! -e $file ]] || dirname "$file"
  done
}

summary=()
failures=0

# step TITLE DIR COMMAND...
step() {
  local title=$1 dir=$2 begin=$SECONDS result=ok
  shift 2
  printf '\n=== %s: %s\n' "$title" "$*"
  if ! (cd "$dir" && "$@"); then
    result=FAILED
    failures=$((failures + 1))
  fi
  summary+=("$(printf '%-7s %3dm%02ds  %s' "$result" $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)) "$title")")
}

summarize() {
  printf '\n=== summary\n'
  printf '%s\n' "${summary[@]}"
  if ((failures > 0)); then
    printf '%d of %d steps failed\n' "$failures" "${#summary[@]}"
    exit 1
  fi
  printf 'all %d steps passed in %dm%02ds\n' "${#summary[@]}" $((SECONDS / 60)) $((SECONDS % 60))
}
