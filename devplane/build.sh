#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds a program of this module, bin/devplane unless another is named:
#
#   devplane/build.sh [OUTPUT [PACKAGE]]
#
# OUTPUT is relative to the root of the tree. The version is that of
# k8s.io/kubernetes in go.mod: clients refuse a server that does not say which
# Kubernetes it is.
set -eu

cd "$(dirname "$0")/.."
output=${1:-bin/devplane}
program=${2:-.}
version=$(cd devplane && go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
minor=${minor%%.*}
package=k8s.io/component-base/version

exec build/compile.sh "$(basename "$output")" devplane "$output=$program" -- \
	-ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$minor"
