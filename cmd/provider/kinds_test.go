// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/providers"
)

func TestTheKindsThatAreAskedForAreRun(t *testing.T) {
	tests := []struct {
		list string
		want []string
		err  string
	}{
		{list: "ManualSchedule", want: []string{"ManualSchedule"}},
		{list: " ManualSchedule , TimeBasedSpotSchedule,", want: []string{"ManualSchedule", "TimeBasedSpotSchedule"}},
		{list: "ManualSchedule,ManualSchedule", want: []string{"ManualSchedule"}},
		{list: "", err: "--kinds names no kind; known kinds: "},
		{list: ",", err: "--kinds names no kind; known kinds: "},
		{list: "manualschedule", err: `there is no kind "manualschedule"; known kinds: `},
		{list: "ManualSchedule,LunarSchedule", err: `there is no kind "LunarSchedule"; known kinds: `},
	}
	for _, test := range tests {
		t.Run(test.list, func(t *testing.T) {
			chosen, err := choose(providers.All(), test.list)
			if (err != nil) != (test.err != "") || (err != nil && !strings.Contains(err.Error(), test.err)) {
				t.Fatalf("error %v, want one with %q", err, test.err)
			}
			if err != nil && !strings.Contains(err.Error(), "ManualSchedule") {
				t.Errorf("the error does not name the known kinds: %v", err)
			}
			var got []string
			for _, provider := range chosen {
				got = append(got, provider.Kind().Kind)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWrongCallEndsWithStatus2AndSaysWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"--kinds=LunarSchedule":          "ManualSchedule",
		"":                               "ManualSchedule",
		"--no-such-flag":                 "no-such-flag",
		"--kinds=ManualSchedule surplus": "surplus",
	} {
		var stderr strings.Builder
		if code := run(t.Context(), strings.Fields(args), io.Discard, &stderr); code != 2 {
			t.Errorf("provider %s: exit status %d, want 2", args, code)
		}
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("provider %s does not say %q:\n%s", args, want, stderr.String())
		}
	}
	var stderr strings.Builder
	if code := run(t.Context(), []string{"--help"}, io.Discard, &stderr); code != 0 || !strings.Contains(stderr.String(), "-leader-elect") {
		t.Errorf("--help: exit status %d:\n%s", code, stderr.String())
	}
}

func TestAnAPIServerThatIsNotThereEndsWithStatus1(t *testing.T) {
	var stderr strings.Builder
	args := []string{"--kinds=ManualSchedule", "--kubeconfig=" + t.TempDir() + "/none"}
	if code := run(t.Context(), args, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "kubeconfig") {
		t.Errorf("exit status %d:\n%s", code, stderr.String())
	}
}
