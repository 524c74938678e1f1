// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"
)

// patience bounds the whole test. It takes a minute or two.
const patience = 8 * time.Minute

// A reader who does what docs/create-your-own-provider.md says, from nothing, gets
// what it says: commands are typed into a shell, files are written and edited, and
// what is printed is compared.
func TestGuideForProviderAuthors(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r := newReader(ctx, t)
	for _, b := range readPage(t, "docs/create-your-own-provider.md").blocks {
		r.do(b)
	}
}

// What may be said of a block in the line before it.
var (
	// notRun is said of commands that a test cannot run.
	notRun = regexp.MustCompile(`^<!-- not run: .+ -->$`)
	// inTerminal is said of a command that goes on, and maybe of what it has to say
	// before the reader goes on.
	inTerminal = regexp.MustCompile(`^<!-- run in (terminal \d+)(?: until "(.+)")? -->$`)
	// ofFile names a file: "`NAME`:" at the end, or "`NAME`, what it is:", or
	// "In `NAME`, what of it:".
	ofFile = regexp.MustCompile("(?:^(?:In )?`([a-z_./]+)`, .*|`([a-z_./]+)`):$")
)

// do does what a block says.
func (r *reader) do(b block) {
	r.t.Helper()
	terminal, file := inTerminal.FindStringSubmatch(b.before), ofFile.FindStringSubmatch(b.before)
	switch {
	case notRun.MatchString(b.before):
	case terminal != nil:
		r.open(terminal[1], b.text, terminal[2])
	case b.language == "sh":
		r.enter(b.text)
	case b.language == "text":
		if !strings.HasSuffix(r.printed, b.text) {
			r.t.Fatalf("what is printed does not end with\n%s\nbut is\n%s", b.text, r.printed)
		}
	case file != nil && b.language == "go" && !strings.HasPrefix(b.text, "// SPDX"):
		r.edit(file[1]+file[2], b.text)
	case file != nil:
		r.write(file[1]+file[2], b.text)
	default:
		r.t.Fatalf("what is a reader to do with this, which comes after %q?\n%s", b.before, b.text)
	}
}
