// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOptions(t *testing.T) {
	loopback := net.IPv4(127, 0, 0, 1)
	tests := []struct {
		name      string
		arguments string
		want      options
		wantError string // part of it; empty: none
	}{
		{
			name: "only the directory", arguments: "--dir=/data",
			want: options{dir: "/data", bind: loopback, fsync: true},
		},
		{
			name: "everything", arguments: "--dir=/data --bind=::1 --port=6443 --disruption-controller --fsync=false --ready-file=/data/ready -v=2",
			want: options{dir: "/data", bind: net.IPv6loopback, port: 6443, disruption: true, readyFile: "/data/ready", verbosity: 2},
		},
		{name: "no directory", arguments: "", wantError: "--dir is missing"},
		{name: "every address", arguments: "--dir=/data --bind=0.0.0.0", wantError: "0.0.0.0 is not a loopback address"},
		{name: "an address of the network", arguments: "--dir=/data --bind=192.0.2.1", wantError: "192.0.2.1 is not a loopback address"},
		{name: "every address of IPv6", arguments: "--dir=/data --bind=::", wantError: ":: is not a loopback address"},
		{name: "a port too high", arguments: "--dir=/data --port=65536", wantError: "--port 65536 is out of range"},
		{name: "a negative port", arguments: "--dir=/data --port=-1", wantError: "--port -1 is out of range"},
		{name: "an argument", arguments: "--dir=/data start", wantError: `unexpected argument "start"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseOptions(strings.Fields(test.arguments))
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Errorf("got %v, want %s", err, test.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
