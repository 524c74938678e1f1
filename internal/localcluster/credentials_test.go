// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"
)

const adminKubeconfig = `
apiVersion: v1
kind: Config
current-context: admin
clusters:
- name: here
  cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: Q0E=}
- name: elsewhere
  cluster: {server: "https://192.0.2.1:6443"}
users:
- name: admin
  user: {token: the-word-of-the-administrator}
contexts:
- name: admin
  context: {cluster: here, user: admin}
`

var desk = types.NamespacedName{Namespace: "5spot-system", Name: "desk"}

// issuer answers requests for tokens: the first with token-1, and so on.
type issuer struct {
	clock    *sleepClock
	requests int
	fail     map[int]bool // requests, counted from 1, that fail
	answered chan int
}

func newStore(t *testing.T, now time.Time) (*credentialStore, *issuer) {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(adminKubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	i := &issuer{clock: &sleepClock{clocktesting.NewFakeClock(now), make(chan struct{}, 100)}, fail: map[int]bool{}, answered: make(chan int, 100)}
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts/token", i.answer)
	return &credentialStore{dir: filepath.Join(dir, "credentials"), kubeconfig: kubeconfig, client: client, clock: i.clock}, i
}

func (i *issuer) answer(action clienttesting.Action) (bool, runtime.Object, error) {
	i.requests++
	defer func() { i.answered <- i.requests }()
	if i.fail[i.requests] {
		return true, nil, errors.New("the server is away")
	}
	request := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
	life := time.Duration(*request.Spec.ExpirationSeconds) * time.Second
	return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{
		Token:               fmt.Sprintf("token-%d", i.requests),
		ExpirationTimestamp: metav1.NewTime(i.clock.Now().Add(life)),
	}}, nil
}

// A sleepClock says when somebody has begun to wait for it.
type sleepClock struct {
	*clocktesting.FakeClock
	sleeping chan struct{}
}

func (c *sleepClock) After(d time.Duration) <-chan time.Time {
	wake := c.FakeClock.After(d)
	c.sleeping <- struct{}{}
	return wake
}

func readToken(t *testing.T, s *credentialStore) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.dir, desk.Namespace, desk.Name+".token"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestKubeconfigOfAServiceAccountHoldsNothingOfTheAdministrator(t *testing.T) {
	store, _ := newStore(t, time.Unix(0, 0))
	life, stop := context.WithCancel(t.Context())
	defer store.renewals.Wait()
	defer stop()
	path, err := store.issue(t.Context(), life, desk)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://127.0.0.1:6443
  name: here
contexts:
- context:
    cluster: here
    namespace: 5spot-system
    user: desk
  name: admin
current-context: admin
kind: Config
users:
- name: desk
  user:
    tokenFile: %s
`, filepath.Join(store.dir, "5spot-system", "desk.token"))
	if diff := cmp.Diff(want, string(content)); diff != "" {
		t.Errorf("kubeconfig (-want +got):\n%s", diff)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if config.BearerToken != "token-1" {
		t.Errorf("a client would use the token %q, want token-1", config.BearerToken)
	}
}

func TestTokenIsRenewedAtHalfItsLifeAndAgainAfterAFailure(t *testing.T) {
	store, issuer := newStore(t, time.Unix(1_900_000_000, 0))
	issuer.fail[3] = true
	life, stop := context.WithCancel(t.Context())
	if _, err := store.issue(t.Context(), life, desk); err != nil {
		t.Fatal(err)
	}
	<-issuer.answered
	<-issuer.clock.sleeping

	for _, step := range []struct {
		after time.Duration
		want  string // in the file; empty: no request is due
	}{
		{after: tokenLife/2 - time.Second},
		{after: time.Second, want: "token-2"},
		{after: tokenLife/2 - time.Second},
		{after: time.Second, want: "token-2"}, // the third request fails
		{after: tokenRetry - time.Second},
		{after: time.Second, want: "token-4"},
	} {
		issuer.clock.Step(step.after)
		if step.want == "" {
			continue
		}
		<-issuer.answered
		<-issuer.clock.sleeping
		if got := readToken(t, store); got != step.want {
			t.Errorf("the file holds %q, want %q", got, step.want)
		}
	}
	if issuer.requests != 4 {
		t.Errorf("%d tokens were requested, want 4", issuer.requests)
	}
	stop()
	store.renewals.Wait()
}

func TestAccountIsIssuedItsCredentialsOnce(t *testing.T) {
	store, issuer := newStore(t, time.Unix(0, 0))
	life, stop := context.WithCancel(t.Context())
	defer store.renewals.Wait()
	defer stop()
	var paths []string
	for range 2 {
		path, err := store.issue(t.Context(), life, desk)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if paths[0] != paths[1] || issuer.requests != 1 {
		t.Errorf("two calls gave %v by %d requests, want one path by one request", paths, issuer.requests)
	}
}

func TestAccountThatDoesNotExistIsNamed(t *testing.T) {
	store, issuer := newStore(t, time.Unix(0, 0))
	issuer.fail[1] = true
	_, err := store.issue(t.Context(), t.Context(), desk)
	want := "requesting a token for the service account 5spot-system/desk: the server is away"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
