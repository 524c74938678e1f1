// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package localcluster

import "errors"

func (l layout) takeLock() (release func(), err error) {
	return nil, errors.New("a local cluster needs Linux or another Unix")
}
