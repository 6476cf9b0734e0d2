package podspec

import "fmt"

// missingError means that an object to which a pod refers does not exist yet.
type MissingError struct{ what string }

func (e *MissingError) Error() string { return e.what + " not found" }

// missing formats a missingError.
func Missing(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }

// unsupportedError means that the embedded cluster cannot carry out a part of the spec, now or later.
type UnsupportedError struct{ what string }

func (e *UnsupportedError) Error() string { return e.what }

// unusableError means that a container cannot be made as its spec says. The kubelet tries again, because a change of another object can
// mend it, as in Kubernetes.
type UnusableError struct{ what string }

func (e *UnusableError) Error() string { return e.what }

// unusable formats an unusableError.
func Unusable(format string, args ...any) error { return &UnusableError{fmt.Sprintf(format, args...)} }

// unsupported formats an unsupportedError.
func Unsupported(format string, args ...any) error {
	return &UnsupportedError{fmt.Sprintf(format, args...)}
}

// RefusedError fails a pod for a reason that will not go away.
type RefusedError struct{ Reason, Message string }

func (e *RefusedError) Error() string { return e.Message }
