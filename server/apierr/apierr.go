// Package apierr holds the errors that callers of the server see. Their causes go only to the log.
package apierr

import (
	"errors"
	"fmt"
)

// Kind says what went wrong in terms of what the caller can do about it.
type Kind int

// The kinds, each mapped to one gRPC code and one HTTP status by the API.
const (
	Internal    Kind = iota // our fault: the caller sees only a short text, the log gets the cause
	Invalid                 // the request is wrong: 400
	NotFound                // no such resource: 404
	Conflict                // the name is taken: 409
	Aborted                 // the state does not allow it: 409
	Unavailable             // the cluster does not answer: 503, worth a retry
)

// Error is a message for the caller with its kind; Cause is for the log only.
type Error struct {
	Kind    Kind
	Message string
	Cause   error
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error of a kind; the message says what was wrong, where, and what to do.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Because attaches the cause that only the log may show.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// KindOf finds the kind of err; anything that is not an *Error is Internal.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
