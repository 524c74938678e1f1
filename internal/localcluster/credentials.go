// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"
)

const (
	// tokenLife is asked for; an API server may grant another.
	tokenLife = time.Hour
	// tokenRetry is the pause after a renewal that failed.
	tokenRetry = 10 * time.Second
)

// A credentialStore keeps, for each service account that a process runs as, a
// kubeconfig and the file with its token. The token is renewed at half its
// life; client-go reads the file again every minute.
type credentialStore struct {
	dir        string
	kubeconfig string // of an administrator
	client     kubernetes.Interface
	clock      clock.Clock

	mu       sync.Mutex
	issued   map[types.NamespacedName]string // kubeconfigs
	renewals sync.WaitGroup
}

// issue writes the credentials of a service account and returns the path of
// the kubeconfig. The token is renewed until life ends.
func (s *credentialStore) issue(ctx, life context.Context, account types.NamespacedName) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kubeconfig, found := s.issued[account]; found {
		return kubeconfig, nil
	}
	dir := filepath.Join(s.dir, account.Namespace)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the directory of the credentials: %w", err)
	}
	tokenFile := filepath.Join(dir, account.Name+".token")
	renewAt, err := s.renew(ctx, account, tokenFile)
	if err != nil {
		return "", err
	}
	kubeconfig := filepath.Join(dir, account.Name+".kubeconfig")
	if err := s.writeKubeconfig(kubeconfig, tokenFile, account); err != nil {
		return "", err
	}
	if s.issued == nil {
		s.issued = map[types.NamespacedName]string{}
	}
	s.issued[account] = kubeconfig
	s.renewals.Go(func() { s.keepRenewed(life, account, tokenFile, renewAt) })
	return kubeconfig, nil
}

func (s *credentialStore) keepRenewed(ctx context.Context, account types.NamespacedName, file string, renewAt time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.clock.After(renewAt.Sub(s.clock.Now())):
		}
		next, err := s.renew(ctx, account, file)
		if err != nil {
			// The API server may be on its way down or up; the old token is
			// good for as long again.
			next = s.clock.Now().Add(tokenRetry)
		}
		renewAt = next
	}
}

// renew writes a new token and returns when to renew it.
func (s *credentialStore) renew(ctx context.Context, account types.NamespacedName, file string) (time.Time, error) {
	now := s.clock.Now()
	seconds := int64(tokenLife.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := s.client.CoreV1().ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return time.Time{}, fmt.Errorf("requesting a token for the service account %s: %w", account, err)
	}
	if err := replaceFile(file, []byte(answer.Status.Token)); err != nil {
		return time.Time{}, fmt.Errorf("writing the token of the service account %s: %w", account, err)
	}
	life := answer.Status.ExpirationTimestamp.Sub(now)
	if life <= 0 {
		return time.Time{}, fmt.Errorf("the token of the service account %s expires at %s, before it was issued: check the clocks", account, answer.Status.ExpirationTimestamp)
	}
	return now.Add(life / 2), nil
}

// writeKubeconfig writes the kubeconfig that the store was made with, another
// user in it.
func (s *credentialStore) writeKubeconfig(path, tokenFile string, account types.NamespacedName) error {
	config, err := clientcmd.LoadFromFile(s.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return fmt.Errorf("reading the kubeconfig %s: %w", s.kubeconfig, err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return fmt.Errorf("reading the files that the kubeconfig %s names: %w", s.kubeconfig, err)
	}
	current := config.Contexts[config.CurrentContext]
	current.AuthInfo = account.Name
	current.Namespace = account.Namespace
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{account.Name: {TokenFile: tokenFile}}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding the kubeconfig of the service account %s: %w", account, err)
	}
	if err := replaceFile(path, content); err != nil {
		return fmt.Errorf("writing the kubeconfig of the service account %s: %w", account, err)
	}
	return nil
}

// replaceFile writes a file that only its owner may read, in one step: a
// reader sees the old content or the new.
func replaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone already if all went well
	if _, err := temporary.Write(content); err != nil {
		return errors.Join(err, temporary.Close())
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
