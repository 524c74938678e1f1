// SPDX-License-Identifier: Apache-2.0

package processtest_test

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/fivespot/fivespot/internal/process/processtest"
)

func TestListeningSeesEveryAddress(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "[::1]", "0.0.0.0", "[::]"} {
		listener, err := net.Listen("tcp", address+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		want := listener.Addr().(*net.TCPAddr).IP
		if got := processtest.Listening(t, os.Getpid()); !slices.ContainsFunc(got, want.Equal) {
			t.Errorf("of a process that listens on %s it says %v", want, got)
		}
	}
}

func TestAChildIsSeenUntilItEnds(t *testing.T) {
	child := exec.CommandContext(t.Context(), "cat")
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	hold := processtest.Take(t, child.Process.Pid)
	if hold.Ended() {
		t.Error("a child that waits for input has ended")
	}
	if got := processtest.Children(t, os.Getpid())["cat"]; got != child.Process.Pid {
		t.Errorf("the child named cat is process %d, want %d", got, child.Process.Pid)
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	hold.AwaitEnd()
	if !hold.Ended() {
		t.Error("a child whose end was awaited has not ended")
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := processtest.Children(t, os.Getpid()); len(got) != 0 {
		t.Errorf("after its end there are %v, want none", got)
	}
}
