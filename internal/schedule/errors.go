// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strings"
)

// FieldError says that one value of a spec cannot be used, and what could stand
// there instead.
type FieldError struct {
	// Path leads to the value from the root of the object, such as
	// spec.hoursOfDay[1]; empty when the caller has yet to say (see [Under]).
	Path string
	// Value is what stands there.
	Value string
	// Want says what would be right, as a noun phrase.
	Want string
}

// Error returns path, value and what would be right in one line.
func (e *FieldError) Error() string {
	text := fmt.Sprintf("%q is not %s", e.Value, e.Want)
	if e.Path == "" {
		return text
	}
	return e.Path + ": " + text
}

func refuse(value, want string) *FieldError { return &FieldError{Value: value, Want: want} }

// Refuse returns a [FieldError] for a value at a path.
func Refuse(path, value, want string) error {
	return &FieldError{Path: path, Value: value, Want: want}
}

// Under returns err with a path put before that of every [FieldError] in it.
// Paths join with a dot, except before an index. It returns nil for nil.
func Under(path string, err error) error {
	if err == nil {
		return nil
	}
	list := FieldErrors(err)
	if len(list) == 0 {
		return fmt.Errorf("%s: %w", path, err)
	}
	moved := make([]error, len(list))
	for i, e := range list {
		moved[i] = &FieldError{Path: join(path, e.Path), Value: e.Value, Want: e.Want}
	}
	return errors.Join(moved...)
}

func join(path, rest string) string {
	if rest == "" || path == "" || strings.HasPrefix(rest, "[") {
		return path + rest
	}
	return path + "." + rest
}

// FieldErrors returns every [FieldError] in a tree of errors, in order; none
// when there is none.
func FieldErrors(err error) []*FieldError {
	switch e := err.(type) { //nolint:errorlint // The tree is walked here, node by node.
	case nil:
		return nil
	case *FieldError:
		return []*FieldError{e}
	case interface{ Unwrap() []error }:
		var list []*FieldError
		for _, child := range e.Unwrap() {
			list = append(list, FieldErrors(child)...)
		}
		return list
	case interface{ Unwrap() error }:
		return FieldErrors(e.Unwrap())
	}
	return nil
}
