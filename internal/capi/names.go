// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Versions of the Machine API, the newest first.
const (
	VersionV1Beta2 = "v1beta2"
	VersionV1Beta1 = "v1beta1"
)

// MachineKind is the kind of a Cluster API Machine.
var MachineKind = schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "Machine"}

// MachineVersion picks the version of Cluster API's own kinds to speak from those that
// are served. ok is false when none of them is known to this package.
func MachineVersion(served []string) (version string, ok bool) {
	for _, version := range []string{VersionV1Beta2, VersionV1Beta1} {
		if slices.Contains(served, version) {
			return version, true
		}
	}
	return "", false
}

// labelValueLimit is Kubernetes' limit for a label value.
const labelValueLimit = 63

// labelValue returns name as a label value. An object's name may be longer than
// a label value; then the value is its beginning and a hash of the whole.
func labelValue(name string) string {
	if len(name) <= labelValueLimit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:])[:10]
	return name[:labelValueLimit-len(hash)-1] + "-" + hash
}
