package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// The gRPC codes that a server answers with, as far as callers act on them.
const (
	CodeInvalidArgument = 3
	CodeNotFound        = 5
	CodeAlreadyExists   = 6
	CodeAborted         = 10
	CodeInternal        = 13
	CodeUnavailable     = 14
)

// Fault is one thing that is wrong in an uploaded manifest.
type Fault struct {
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1; 0 when only the line is known
	Path    string `json:"path"`   // as in spec.templates[train].container.image
	Message string `json:"message"`
	// Excerpt is the lines around the fault; the first of them is line ExcerptFrom.
	Excerpt     []string `json:"excerpt"`
	ExcerptFrom int      `json:"excerpt_from"`
}

// Error is an answer of the server other than success.
type Error struct {
	Status  int    // HTTP status
	Code    int    // gRPC code; 0 when the server gave none
	Message string // what the server says was wrong
	Details string // more of it, when the server gave more

	Faults []Fault // where an uploaded manifest is wrong, as far as the server knows

	retryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("the server answered HTTP %d %s", e.Status, http.StatusText(e.Status))
	}
	return e.Message
}

// Unreachable means that no answer came: the server is down, or the connection broke before the answer was complete.
type Unreachable struct {
	URL string
	Err error
}

func (e *Unreachable) Error() string {
	if e.NothingSent() {
		return fmt.Sprintf("no Argosy server answers at %s (start one with `argosy up`, or name another with --server or ARGOSY_URL): %v", e.URL, e.Err)
	}
	return fmt.Sprintf("lost the connection to the Argosy server at %s: %v", e.URL, e.Err)
}

// Unwrap gives the network error.
func (e *Unreachable) Unwrap() error { return e.Err }

// NothingSent reports whether the connection was never made, so that the call cannot have had an effect.
func (e *Unreachable) NothingSent() bool { return dialFailed(e.Err) }

// IsNotFound reports whether err means that the pipeline, run or other object does not exist.
func IsNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }

// IsConflict reports whether err means that the name is taken, or that the state of the resource does not allow the call.
func IsConflict(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && (e.Status == http.StatusConflict || e.Code == CodeAlreadyExists)
}

// IsInvalid reports whether err means that the request itself was wrong.
func IsInvalid(err error) bool { return hasStatus(err, http.StatusBadRequest) }

// IsUnreachable reports whether err means that no server answered.
func IsUnreachable(err error) bool {
	u := (*Unreachable)(nil)
	return errors.As(err, &u)
}

func hasStatus(err error, status int) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Status == status
}

// readError makes an *Error of an answer; both of KFP v1's shapes (gateway and upload) and plain text are understood.
func readError(r request, resp *http.Response) error {
	e := &Error{Status: resp.StatusCode, retryAfter: retryAfter(resp.Header)}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		if ctx := resp.Request.Context(); ctx.Err() != nil { // while the answer came
			return context.Cause(ctx)
		}
		return &Unreachable{Err: err, URL: resp.Request.URL.Host}
	}
	var wire struct {
		Error        string `json:"error"`
		Message      string `json:"message"`
		Code         int    `json:"code"`
		ErrorMessage string `json:"error_message"`
		ErrorDetails string `json:"error_details"`
		Faults       []Fault
		Details      []struct {
			ErrorMessage string `json:"error_message"`
			ErrorDetails string `json:"error_details"`
		} `json:"details"`
	}
	if json.Unmarshal(body, &wire) != nil {
		e.Message = fmt.Sprintf("%s %s: HTTP %d: %s", r.method, r.path, resp.StatusCode, firstLine(string(body)))
		return e
	}
	e.Code, e.Details, e.Faults = wire.Code, wire.ErrorDetails, wire.Faults
	e.Message = firstOf(wire.Message, wire.Error, wire.ErrorMessage)
	if len(wire.Details) > 0 {
		// The gateway's message is often a chain of causes; the detail is what is meant for the user.
		e.Message = firstOf(wire.Details[0].ErrorMessage, e.Message)
		e.Details = firstOf(wire.Details[0].ErrorDetails, e.Details)
	}
	return e
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	const longest = 200
	if len(line) > longest {
		line = line[:longest] + "..."
	}
	return line
}
