// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fivespot/fivespot/api/contract"
)

// lines are what there is to show of a status: the verdict under "", and a line
// for each condition but Ready and each field that is not the contract's.
type lines map[string]string

// showChanges shows what changed in the statuses since the last time.
func (l *Timeline) showChanges() {
	gone := maps.Clone(l.shown)
	for _, schedule := range l.simulation.Schedules() {
		name := schedule.GetName()
		if schedule.GetNamespace() != "default" {
			name = schedule.GetNamespace() + "/" + name
		}
		delete(gone, name)
		l.showChange(name, l.linesOf(schedule))
	}
	for name := range gone {
		delete(l.shown, name)
	}
}

func (l *Timeline) showChange(name string, now lines) {
	before := l.shown[name]
	all := maps.Clone(now)
	maps.Copy(all, before)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		line, known := now[key]
		switch {
		case line == before[key]:
		case key == "":
			l.show(name + ": " + line)
		case known:
			l.show(name + ":   " + line)
		default:
			l.show(name + ":   " + key + " is gone")
		}
	}
	l.shown[name] = now
}

func (l *Timeline) linesOf(schedule *unstructured.Unstructured) lines {
	status, _ := schedule.Object["status"].(map[string]any)
	if status == nil {
		return nil
	}
	shown := lines{"": l.verdict(status)}
	for field, value := range status {
		switch field {
		case "active", "observedGeneration", "lastTransitionTime", "nextTransitionTime", "conditions":
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			text = fmt.Append(nil, value)
		}
		shown["status."+field] = fmt.Sprintf("status.%s is %s", field, text)
	}
	for _, condition := range conditions(status) {
		if condition.kind != contract.ConditionReady {
			shown[condition.kind] = fmt.Sprintf("%s is %s%s", condition.kind, condition.status, condition.why())
		}
	}
	return shown
}

// verdict shows the fields of the contract.
func (l *Timeline) verdict(status map[string]any) string {
	var text strings.Builder
	switch active, known := status["active"].(bool); {
	case !known:
		text.WriteString("undecided")
	case active:
		text.WriteString("active")
	default:
		text.WriteString("inactive")
	}
	if next, ok := status["nextTransitionTime"].(string); ok {
		if at, err := time.Parse(time.RFC3339, next); err == nil {
			next = l.instant(at)
		}
		text.WriteString(" until " + next)
	}
	for _, condition := range conditions(status) {
		if condition.kind != contract.ConditionReady {
			continue
		}
		if condition.status != "True" {
			text.WriteString(", not ready")
		}
		text.WriteString(condition.why())
	}
	return text.String()
}

type condition struct{ kind, status, reason, message string }

// why shows the reason and the message.
func (c condition) why() string {
	if c.message == "" {
		return " (" + c.reason + ")"
	}
	return " (" + c.reason + ": " + c.message + ")"
}

func conditions(status map[string]any) []condition {
	list, _ := status["conditions"].([]any)
	var all []condition
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		text := func(field string) string {
			value, _ := fields[field].(string)
			return value
		}
		all = append(all, condition{text("type"), text("status"), text("reason"), text("message")})
	}
	return all
}
