// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/mod/modfile"
)

const sdkModule = "github.com/fivespot/fivespot"

// sdk says where a provider's module gets the SDK from.
type sdk struct {
	Version string // that is required
	Dir     string // of a checkout that takes its place; empty: the released version itself
}

// released are versions that the module proxy has, unlike what git describe
// makes of other commits.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

// findSDK returns the SDK of the given checkout; without one, that of this
// program: its release, or else the checkout in which it was built.
func findSDK(checkout, version, executable string) (sdk, error) {
	if checkout != "" {
		dir, err := filepath.Abs(checkout)
		if err != nil {
			return sdk{}, err
		}
		if !isCheckout(dir) {
			return sdk{}, fmt.Errorf("%s is no checkout of %s: its go.mod does not say so", dir, sdkModule)
		}
		return sdk{Version: "v0.0.0", Dir: dir}, nil
	}
	if released.MatchString(version) {
		return sdk{Version: version}, nil
	}
	if resolved, err := filepath.EvalSymlinks(executable); err == nil {
		executable = resolved
	}
	for dir := filepath.Dir(executable); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if isCheckout(dir) {
			return sdk{Version: "v0.0.0", Dir: dir}, nil
		}
	}
	return sdk{}, errors.New("this is no release of fivespot, and it is in no checkout of " + sdkModule + ": name one with --sdk")
}

func isCheckout(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(text) == sdkModule
}
