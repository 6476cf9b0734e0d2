// Package exit gives the exit codes of the command a meaning.
package exit

import (
	"context"
	"errors"
	"fmt"

	"github.com/argosy-ml/argosy/sdk/client"
)

// The exit codes; the root command's help lists them.
const (
	OK          = 0
	Failure     = 1   // the thing asked for failed: a run did not succeed, a request was refused
	Usage       = 2   // the command line is wrong
	Refused     = 3   // no such resource (a cluster that runs, too), its name is taken, its state does not allow it, or another process holds it
	Environment = 4   // something around the command is missing: no server answers, the cluster does not start, a port is taken, this is not Linux
	Interrupted = 130 // ended by Ctrl-C before it was done
)

// Error is an error with its exit code.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the error without its code.
func (e *Error) Unwrap() error { return e.Err }

// With gives err an exit code; nil stays nil.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Err: err}
}

// Usagef makes an error of a wrong command line.
func Usagef(format string, args ...any) error { return With(Usage, fmt.Errorf(format, args...)) }

// Environmentf makes an error of something missing around the command.
func Environmentf(format string, args ...any) error {
	return With(Environment, fmt.Errorf(format, args...))
}

// Code is the exit code of a command that ended with err.
func Code(err error) int {
	coded := (*Error)(nil)
	switch {
	case err == nil:
		return OK
	case errors.As(err, &coded):
		return coded.Code
	case client.IsNotFound(err), client.IsConflict(err):
		return Refused
	case client.IsUnreachable(err):
		return Environment
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failure
}
