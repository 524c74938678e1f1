#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds bin/devplane, or the file named as the first argument. The version is
# that of k8s.io/kubernetes in go.mod: clients refuse a server that does not
# say which Kubernetes it is.
set -eu

cd "$(dirname "$0")"
output=${1:-../bin/devplane}
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
minor=${minor%%.*}
package=k8s.io/component-base/version

CGO_ENABLED=0 exec go build -trimpath -o "$output" \
	-ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$minor" .
