// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fivespot/fivespot/api/contract"
)

// view is what metrics and log say of a status.
type view struct {
	// known says that there is a verdict, active which one.
	known, active bool
	// ready says that Ready is True, notReady that it is there and is not.
	ready, notReady bool
	// reason and message are those of Ready.
	reason, message string
}

func viewOf(object *unstructured.Unstructured) view {
	status := rawStatus(object)
	v := view{}
	v.active, v.known = status[fieldActive].(bool)
	ready, ok := conditionsByType(status[fieldConditions])[contract.ConditionReady]
	if ok {
		v.ready = ready["status"] == "True"
		v.notReady = !v.ready
		v.reason, _ = ready["reason"].(string)
		v.message, _ = ready["message"].(string)
	}
	return v
}
