// Package exit gives the exit codes of the command a meaning.
package exit

import (
	"context"
	"errors"
	"fmt"

	"github.com/argosy-ml/argosy/sdk/client"
)

// The exit codes.
const (
	OK          = 0
	Failure     = 1
	Usage       = 2
	Refused     = 3
	Environment = 4
	Timeout     = 5
	Interrupted = 130
)

// Meaning is what an exit code means.
type Meaning struct {
	Code int
	Text string
}

// Meanings is the one table of exit codes: the root command's help prints it, and docs/command.md has the same.
var Meanings = []Meaning{
	{OK, "it worked"},
	{Failure, "it failed: a run did not succeed, a package has faults or differs, a pipeline does not compile, a report is below its baseline, doctor found what blocks"},
	{Usage, "what was given is wrong: a flag, an argument, a value, a parameter, a filter, a file that cannot be read; whether the command or the server finds it"},
	{Refused, "there is no such thing, its name is taken, its state does not allow it, or another process holds it"},
	{Environment, "something around the command is missing: no server answers, the cluster does not start, a port is taken, this is not Linux"},
	{Timeout, "the time of --timeout is over, and what was waited for goes on"},
	{Interrupted, "ended by Ctrl-C before it was done"},
}

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
	case client.IsInvalid(err):
		return Usage
	case client.IsNotFound(err), client.IsConflict(err):
		return Refused
	case client.IsUnreachable(err):
		return Environment
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failure
}
