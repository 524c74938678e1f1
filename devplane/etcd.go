// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// Sockets, relative to the working directory, which is DIR: the path of a unix
// socket may not be longer than about 100 bytes, and that of DIR may be. A
// socket in a directory that only its owner may enter needs no credentials,
// whereas a port would be open to every user of the machine.
const (
	etcdClientSocket = "etcd.sock"
	etcdPeerSocket   = "etcd-peer.sock"
)

// etcdQuota is etcd's own recommended maximum for a database, in bytes.
const etcdQuota = 8 << 30

func startEtcd(ctx context.Context, o options, l layout) (*embed.Etcd, error) {
	client := url.URL{Scheme: "unix", Host: etcdClientSocket}
	peer := url.URL{Scheme: "unix", Host: etcdPeerSocket}

	c := embed.NewConfig()
	c.Name = "devplane"
	c.Dir = l.etcd()
	c.ListenClientUrls = []url.URL{client}
	c.AdvertiseClientUrls = []url.URL{client}
	c.ListenPeerUrls = []url.URL{peer}
	c.AdvertisePeerUrls = []url.URL{peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.QuotaBackendBytes = etcdQuota
	c.UnsafeNoFsync = !o.fsync
	c.LogLevel = "warn"
	c.LogOutputs = []string{embed.StdErrLogOutput}

	server, err := embed.StartEtcd(c)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err := <-server.Err():
		server.Close()
		return nil, fmt.Errorf("starting etcd: %w", err)
	case <-server.Server.StopNotify():
		server.Close()
		return nil, errors.New("starting etcd: it stopped before it was ready; its log says why")
	case <-ctx.Done():
		server.Close()
		return nil, fmt.Errorf("starting etcd: %w", context.Cause(ctx))
	}
}
