// SPDX-License-Identifier: Apache-2.0

package up_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/internal/process/processtest"
)

var storyLine = regexp.MustCompile(`^ *[0-9]+\.[0-9]s  (.*)$`)

func TestDemoTellsTheGuidesStoryAndEnds(t *testing.T) {
	r := fivespot(t, t.TempDir(), "demo", "--exit")
	status, lines := r.awaitEnd()
	if status != 0 {
		t.Fatalf("it ended with status %d:\n%s\n%s", status, strings.Join(lines, "\n"), r.stderr.String())
	}
	want, err := os.ReadFile("testdata/story.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range lines {
		if found := storyLine.FindStringSubmatch(line); found != nil {
			got = append(got, found[1])
		}
	}
	if diff := cmp.Diff(chapters(strings.Split(strings.TrimSpace(string(want)), "\n")), chapters(got)); diff != "" {
		t.Errorf("the story (-want +got):\n%s", diff)
	}
}

func TestDemoStaysUpAndStopsEverything(t *testing.T) {
	r := fivespot(t, t.TempDir(), "demo")
	r.awaitLine("Everything stays up")
	if children := processtest.Children(t, r.pid()); len(children) != 9 {
		t.Errorf("after the story it runs %v, want nine parts", children)
	}
	parts := takeHold(t, r)
	r.stop()
	awaitEnds(parts)
}

// chapters sorts the lines within each chapter: what follows from a toggle comes
// by five watches, and they keep no order among each other.
func chapters(lines []string) [][]string {
	var all [][]string
	for _, line := range lines {
		if !strings.HasPrefix(line, " ") || len(all) == 0 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], line)
	}
	for _, chapter := range all {
		slices.Sort(chapter)
	}
	return all
}
