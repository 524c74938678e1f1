// SPDX-License-Identifier: Apache-2.0

package sdktest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/sdk"
	"github.com/fivespot/fivespot/sdk/sdktest"
)

// told takes the place of a test, and keeps what it is told.
type told struct {
	testing.TB

	fatal, failed string
}

func (*told) Helper() {}

func (*told) Context() context.Context { return context.Background() }

func (r *told) Errorf(format string, args ...any) { r.failed += fmt.Sprintf(format, args...) }

// Fatalf ends the goroutine, as a test's does.
func (r *told) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	panic(r)
}

// tell returns what a test is told that does this.
func tell(do func(t testing.TB)) (r *told) {
	r = &told{}
	defer func() {
		if value := recover(); value != nil && value != r {
			panic(value)
		}
	}()
	do(r)
	return r
}

// comparing sees to it that golden files are compared, though others be written.
func comparing(t *testing.T) {
	t.Helper()
	update := flag.Lookup("update").Value
	before := update.String()
	if err := update.Set("false"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := update.Set(before); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatATimelineCannotDoEndsTheTest(t *testing.T) {
	comparing(t)
	begin := func(t testing.TB) *sdktest.Timeline { return sdktest.NewTimeline(t, provider(&lock{}), midnight) }
	tests := map[string]struct {
		do   func(t testing.TB)
		want string
	}{
		"an object of a kind that the provider has nothing to do with": {
			do:   func(t testing.TB) { begin(t).Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "feed"}}) },
			want: "v1.Secret is neither a sdktest_test.TideSchedule nor declared by WithReads",
		},
		"an object without a name": {
			do:   func(t testing.TB) { begin(t).Apply(&TideSchedule{}) },
			want: "the TideSchedule has no name",
		},
		"an object that is not there": {
			do:   func(t testing.TB) { begin(t).Delete(harbour(TideSpec{})) },
			want: `there is no TideSchedule "harbour" to delete`,
		},
		"the state of an object that is not there": {
			do:   func(t testing.TB) { begin(t).Get(table("")) },
			want: `there is no ConfigMap "tides"`,
		},
		"the past": {
			do:   func(t testing.TB) { begin(t).AdvanceTo(midnight.Add(-1)) },
			want: "the timeline is at 2026-06-15 00:00:00 +0000 UTC already",
		},
		"a provider of a kind that is no schedule": {
			do: func(t testing.TB) {
				p := sdk.New(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, never)
				sdktest.NewTimeline(t, p, midnight)
			},
			want: `the kind is of the API group "apps"`,
		},
		"a provider that does not come to rest": {
			do: func(t testing.TB) {
				defer sdktest.WithMaxStops(1000)()
				timeline := sdktest.NewTimeline(t, sdk.New(tideKind, never, sdk.WithBackoff(3*time.Nanosecond, 3*time.Nanosecond)), midnight)
				timeline.Apply(harbour(TideSpec{}))
				timeline.AdvanceTo(midnight.Add(time.Hour))
			},
			want: "has more to do than",
		},
		"a golden file that is not there": {
			do:   func(t testing.TB) { begin(t).Golden(filepath.Join("testdata", "none.txt")) },
			want: "go test -update writes it",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tell(test.do).fatal; !strings.Contains(got, test.want) {
				t.Errorf("the test is told %q, want %q", got, test.want)
			}
		})
	}
}

func never(context.Context, *TideSchedule, time.Time) (sdk.Decision, error) {
	return sdk.Decision{}, errors.New("it broke")
}

func TestATimelineThatDiffersFromItsGoldenFileFailsTheTest(t *testing.T) {
	comparing(t)
	file := filepath.Join(t.TempDir(), "golden.txt")
	if err := os.WriteFile(file, []byte("Mon 2026-06-15T00:00:00Z  apply ConfigMap tides of another day\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := tell(func(t testing.TB) {
		timeline := sdktest.NewTimeline(t, provider(&lock{}), midnight)
		timeline.Apply(table("03"))
		timeline.Golden(file)
	})
	if r.fatal != "" || !strings.Contains(r.failed, "of another day") || !strings.Contains(r.failed, "-update") {
		t.Errorf("the test is told %q, %q", r.fatal, r.failed)
	}
}

func TestGetShowsTheWholeObject(t *testing.T) {
	timeline := sdktest.NewTimeline(t, provider(&lock{}), midnight)
	timeline.Apply(table("00"))
	timeline.Apply(harbour(TideSpec{Table: "tides"}))
	timeline.Apply(harbour(TideSpec{Table: "tides"})) // changes nothing
	timeline.AdvanceTo(midnight.Add(30 * time.Minute))
	timeline.Apply(harbour(TideSpec{Table: "nowhere"}))

	s := harbour(TideSpec{})
	timeline.Get(s)
	if s.Generation != 2 || s.Namespace != "default" || s.UID == "" || !s.CreationTimestamp.Time.Equal(midnight) {
		t.Errorf("metadata %+v", s.ObjectMeta)
	}
	if s.Spec.Table != "nowhere" || s.Status.ObservedGeneration != 2 || s.Status.Active == nil || !*s.Status.Active ||
		!s.Status.LastTransitionTime.Time.Equal(midnight) || len(s.Status.Conditions) != 1 {
		t.Errorf("spec %+v, status %+v", s.Spec, s.Status)
	}
	tides := table("")
	timeline.Get(tides)
	if tides.Data["high"] != "00" {
		t.Errorf("the ConfigMap holds %v", tides.Data)
	}
}

func TestSchedulesOfSeveralNamespacesAreToldApart(t *testing.T) {
	timeline := sdktest.NewTimeline(t, provider(&lock{}), midnight)
	for _, namespace := range []string{"north", "south"} {
		s := harbour(TideSpec{Table: "tides"})
		s.Namespace = namespace
		timeline.Apply(s)
	}
	tides := table("00")
	tides.Namespace = "south"
	timeline.Apply(tides)
	timeline.Golden("testdata/namespaces.txt")
}

// A status of before is what a provider finds that was away.
func TestAScheduleMayHaveAStatusAlready(t *testing.T) {
	s := harbour(TideSpec{Table: "tides"})
	s.Status.Active = new(true)
	timeline := sdktest.NewTimeline(t, provider(&lock{}), midnight)
	timeline.Apply(s)
	timeline.Golden("testdata/away.txt")
}
