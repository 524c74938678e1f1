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

// Under returns err with a path put before that of every [FieldError] in it, and
// before the text of every other error. Paths join with a dot, except before an
// index. It returns nil for nil. Several errors read as one line.
func Under(path string, err error) error {
	found := leaves(err)
	if len(found) == 0 {
		return nil
	}
	moved := make(joinedErrors, len(found))
	for i, leaf := range found {
		if field, ok := leaf.(*FieldError); ok { //nolint:errorlint // A leaf wraps nothing.
			moved[i] = &FieldError{Path: join(path, field.Path), Value: field.Value, Want: field.Want}
			continue
		}
		moved[i] = fmt.Errorf("%s: %w", path, leaf)
	}
	if len(moved) == 1 {
		return moved[0]
	}
	return moved
}

type joinedErrors []error

func (l joinedErrors) Error() string {
	texts := make([]string, len(l))
	for i, err := range l {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (l joinedErrors) Unwrap() []error { return l }

func join(path, rest string) string {
	if rest == "" || path == "" || strings.HasPrefix(rest, "[") {
		return path + rest
	}
	return path + "." + rest
}

// FieldErrors returns every [FieldError] in a tree of errors, in order; none
// when there is none.
func FieldErrors(err error) []*FieldError {
	var list []*FieldError
	for _, leaf := range leaves(err) {
		if field, ok := leaf.(*FieldError); ok { //nolint:errorlint // A leaf wraps nothing.
			list = append(list, field)
		}
	}
	return list
}

// leaves returns the errors that a tree of joined errors consists of. What wraps
// a FieldError gives way to it.
func leaves(err error) []error {
	switch e := err.(type) { //nolint:errorlint // The tree is walked here, node by node.
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var list []error
		for _, child := range e.Unwrap() {
			list = append(list, leaves(child)...)
		}
		return list
	case interface{ Unwrap() error }:
		if field := (*FieldError)(nil); errors.As(err, &field) {
			return leaves(e.Unwrap())
		}
	}
	return []error{err}
}
