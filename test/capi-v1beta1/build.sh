#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the core manager of the last Cluster API with v1beta1 only, and sets its
# CustomResourceDefinitions beside it, for the test of an upgrade:
#
#   test/capi-v1beta1/build.sh OUTPUT
#
# OUTPUT is a directory, relative to the root of the tree. As with the managers
# of today, the webhook server listens on 127.0.0.1 instead of on all interfaces.
set -eu

cd "$(dirname "$0")/../.."
output=$1
module=sigs.k8s.io/cluster-api
(cd test/capi-v1beta1 && go mod download "$module")
from=$(cd test/capi-v1beta1 && go list -m -f '{{.Dir}}' "$module")

rm -rf "$output/src" "$output/crds"
mkdir -p "$output"
cp -r "$from" "$output/src"
chmod -R u+w "$output/src"
sed -i.original 's/Port:  *webhookPort,/Host: "127.0.0.1", Port: webhookPort,/' "$output/src/main.go"
grep -q 'Host: "127.0.0.1", Port: webhookPort,' "$output/src/main.go" || {
	echo "$module: main.go does not say where the webhook server listens: adapt test/capi-v1beta1/build.sh" >&2
	exit 1
}
cp -r "$output/src/config/crd/bases" "$output/crds"
cp test/capi-v1beta1/go.mod test/capi-v1beta1/go.sum "$output"
go mod edit -replace "$module=$PWD/$output/src" "$output/go.mod"

exec build/compile.sh "Cluster API v1beta1" test/capi-v1beta1 "$output/core=$module" -- \
	-modfile="$PWD/$output/go.mod" -ldflags '-s -w'
