// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"testing"

	"github.com/fivespot/fivespot/internal/devplane"
)

// BenchmarkStart is from nothing to ready, on a new directory.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		b.StartTimer()
		p, err := devplane.Start(b.Context(), devplane.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := p.Stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
