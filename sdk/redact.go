// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// minSecretLength is below what a value is taken for no secret: to take "on"
	// or "8080" out of every message would make them unreadable.
	minSecretLength = 6
	redaction       = "[redacted]"
)

// withSecretValues adds to values those of a Secret in the forms in which an error
// may quote them.
func withSecretValues(values []string, object *unstructured.Unstructured) []string {
	data, _, _ := unstructured.NestedStringMap(object.Object, "data")
	for _, encoded := range data {
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		value := strings.TrimSpace(string(decoded))
		if err != nil || len(value) < minSecretLength {
			continue
		}
		values = append(values, value, encoded, url.QueryEscape(value), url.PathEscape(value))
	}
	// The longest first, in case one value is a part of another, be it of another Secret.
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(values)
}

func redacted(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, redaction)
	}
	return text
}

// redactIn redacts the texts in decoded JSON.
func redactIn(value any, secrets []string) any {
	switch value := value.(type) {
	case string:
		return redacted(value, secrets)
	case map[string]any:
		for field, element := range value {
			value[field] = redactIn(element, secrets)
		}
	case []any:
		for i, element := range value {
			value[i] = redactIn(element, secrets)
		}
	}
	return value
}

// redactError returns an error of the same type whose text quotes no secret.
func redactError(err error, secrets []string) error {
	if err == nil || len(secrets) == 0 {
		return err
	}
	return &rewordedError{text: redacted(err.Error(), secrets), cause: err}
}
