#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds bin/devplane, or the file named as the first argument (relative to the
# root of the tree). The version is that of k8s.io/kubernetes in go.mod: clients
# refuse a server that does not say which Kubernetes it is.
set -eu

cd "$(dirname "$0")/.."
output=${1:-bin/devplane}
version=$(cd devplane && go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
minor=${minor%%.*}
package=k8s.io/component-base/version

exec build/compile.sh devplane devplane "$output=." -- \
	-ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$minor"
