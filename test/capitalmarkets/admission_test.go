// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"fmt"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func object(t *testing.T, namespace, name, spec string) *v1alpha1.CapitalMarketsSchedule {
	t.Helper()
	s := &v1alpha1.CapitalMarketsSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := yaml.UnmarshalStrict([]byte(spec), &s.Spec); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatTheAPIServerRefuses(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{`{exchange: nyse}`, "spec.exchange"},
		{`{timezone: "9"}`, "spec.timezone"},
		{`{holidays: ["2026-6-01"]}`, "spec.holidays[0]"},
		{`{holidays: ["2026-12-25T00:00:00Z"]}`, "spec.holidays[0]"},
		{`{sessions: [{daysOfWeek: [mon], open: "17:00", close: "17:00"}]}`, "open and close must differ"},
		{`{sessions: [{daysOfWeek: [mon], open: "9:30", close: "16:00"}]}`, "spec.sessions[0].open"},
		{`{sessions: [{daysOfWeek: [mon], open: "09:30"}]}`, "open and close go together"},
		{`{sessions: [{daysOfWeek: [mon], open: "09:30", close: "16:00", hoursOfDay: ["9"]}]}`, "either hoursOfDay, or open and close"},
		{`{sessions: [{daysOfWeek: [mon], hoursOfDay: ["9"], openDayOffset: -1}]}`, "openDayOffset needs open and close"},
		{`{sessions: [{daysOfWeek: [mon], open: "09:30", close: "16:00", openDayOffset: -2}]}`, "spec.sessions[0].openDayOffset"},
		{`{earlyCloses: [{date: "2026-12-24"}]}`, "give one of closeHour and close"},
		{`{earlyCloses: [{date: "2026-12-24", closeHour: 12, close: "13:00"}]}`, "give one of closeHour and close"},
		{`{earlyCloses: [{date: "2026-12-24", closeHour: 24}]}`, "spec.earlyCloses[0].closeHour"},
		{`{lateOpens: [{date: "2026-12-24", open: "24:00"}]}`, "spec.lateOpens[0].open"},
		{`{specialSessions: [{date: "2026-12-24", open: "10:00", close: "10:00"}]}`, "open and close must differ"},
		{`{leadTime: 1d}`, "spec.leadTime"},
		{`{lagTime: 169h}`, "must be at most 168h"},
		{`{bridgeGaps: 604801s}`, "must be at most 168h"},
	} {
		err := devplanetest.Client(t).Create(t.Context(), object(t, "default", "refused", c.spec), client.DryRunAll)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a refusal with %q", c.spec, err, c.want)
		}
	}
}

func TestWhatTheAPIServerTakes(t *testing.T) {
	var holidays []string
	for day := range 366 {
		holidays = append(holidays, fmt.Sprintf(`"%04d-06-%02d"`, 2026+day/28, 1+day%28))
	}
	for _, spec := range []string{
		`{}`,
		`{exchange: XNYS}`,
		`{exchange: XNYS, leadTime: 168h, lagTime: 0s, bridgeGaps: 10080m}`,
		`{holidays: [` + strings.Join(holidays, ",") + `]}`,
		`{sessions: [{daysOfWeek: ["mon-thu,fri"], hoursOfDay: ["9-16"]}], earlyCloses: [{date: "2026-11-27", closeHour: 12}]}`,
		`{sessions: [{daysOfWeek: [mon], open: "17:00", close: "17:00", openDayOffset: -1}]}`,
	} {
		if err := devplanetest.Client(t).Create(t.Context(), object(t, "default", "taken", spec), client.DryRunAll); err != nil {
			t.Errorf("%.80s: %v", spec, err)
		}
	}
}

func TestTheSampleIsTaken(t *testing.T) {
	sample, err := os.ReadFile("../../examples/capitalmarketsschedule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	namespace := devplanetest.Namespace(t)
	sample = []byte(strings.ReplaceAll(string(sample), "namespace: trading", "namespace: "+namespace))
	if got := len(devplanetest.Apply(t, sample)); got != 3 {
		t.Errorf("%d objects, want 3", got)
	}
}
