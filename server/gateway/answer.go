package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/pipeline"
)

// marshaler writes JSON as KFP does: names as in the protos, zero values left out, no spaces. It reads both ways of
// writing names and passes over fields that it does not know.
type marshaler struct{ runtime.JSONPb }

func newMarshaler() *marshaler {
	return &marshaler{runtime.JSONPb{
		MarshalOptions:   protojson.MarshalOptions{UseProtoNames: true},
		UnmarshalOptions: protojson.UnmarshalOptions{DiscardUnknown: true},
	}}
}

// Marshal takes out the spaces that protojson puts in at random.
func (m *marshaler) Marshal(v any) ([]byte, error) {
	raw, err := m.JSONPb.Marshal(v)
	if err != nil {
		return nil, err
	}
	return compact(raw), nil
}

// compact takes the spaces out of valid JSON that has no other blanks, in its own place. json.Compact, which checks what it
// reads letter by letter, would take a fifth of the time of a large answer.
func compact(text []byte) []byte {
	out := text[:0]
	for rest := text; len(rest) > 0; {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			n = len(rest)
		}
		for _, c := range rest[:n] {
			if c != ' ' {
				out = append(out, c)
			}
		}
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
		end := 1 // behind the closing quote
		for {
			end += bytes.IndexByte(rest[end:], '"') + 1
			slashes := 0
			for rest[end-2-slashes] == '\\' {
				slashes++
			}
			if slashes%2 == 0 {
				break
			}
		}
		out, rest = append(out, rest[:end]...), rest[end:]
	}
	return out
}

// NewDecoder refuses bodies other than JSON, and unknown enum values, which protojson skips together with unknown fields: a
// reference to an EXPERIMNT would be none at all.
func (m *marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		raw, err := io.ReadAll(r)
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			return apierr.New(apierr.Invalid, "the body is larger than %d MiB", tooLarge.Limit>>20)
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil && len(raw) > 0 { // to say nothing may be enough
			return apierr.New(apierr.Invalid, "the body is not valid JSON: %v", err)
		}
		if err := m.JSONPb.NewDecoder(bytes.NewReader(raw)).Decode(v); err != nil {
			return err
		}
		into := reflect.Indirect(reflect.ValueOf(v))
		if message, ok := into.Interface().(proto.Message); ok {
			return knownEnums(raw, message.ProtoReflect().Descriptor())
		}
		if message, ok := v.(proto.Message); ok {
			return knownEnums(raw, message.ProtoReflect().Descriptor())
		}
		return nil
	})
}

// everyHeader passes all headers on as gRPC metadata under their lower-case names, as KFP does.
func everyHeader(name string) (string, bool) {
	if name == "Connection" { // gRPC keeps this one for itself
		return "", false
	}
	return strings.ToLower(name), true
}

// errorAnswer is the body of every refusal.
type errorAnswer struct {
	Error   string        `json:"error"`
	Message string        `json:"message"`
	Code    codes.Code    `json:"code"`
	Details []errorDetail `json:"details"`
}

type errorDetail struct {
	Type string `json:"@type"`
	uploadError
}

// uploadError is the body of a refused upload, and the detail of every other refusal.
type uploadError struct {
	Message string     `json:"error_message"`
	Details string     `json:"error_details"`
	Code    codes.Code `json:"code,omitempty"` // of uploads, whose status 500 says little

	Faults []pipeline.Fault `json:"faults,omitempty"` // of an uploaded manifest
}

// refuse answers with an error; it is also the error handler of the REST routes.
func (g *gateway) refuse(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	api.Log(ctx, g.Log, r.Method+" "+r.URL.Path, time.Now(), err)
	s := api.Status(err)
	writeError(w, runtime.HTTPStatusFromCode(s.Code()), s.Code(), s.Message())
}

func writeError(w http.ResponseWriter, status int, code codes.Code, message string) {
	message = strings.ReplaceAll(message, "\u00a0", " ") // protojson puts these into its errors
	writeJSON(w, status, errorAnswer{
		Error: message, Message: message, Code: code,
		Details: []errorDetail{{Type: "type.googleapis.com/api.Error", uploadError: uploadError{Message: message, Details: message}}},
	})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil { // only strings and numbers come here
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(raw) //nolint:errcheck // the client went away
}

// plainError answers for paths and methods that no route knows.
func plainError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, status int) {
	http.Error(w, http.StatusText(status), status)
}

// answer remembers what was answered.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// recovered logs every request and keeps a panic to the request that it came from.
func (g *gateway) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, a := time.Now(), &answer{ResponseWriter: w}
		defer func() {
			p := recover()
			if p == http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
				panic(p)
			}
			if p != nil {
				g.Log.ErrorContext(r.Context(), "request panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				if a.status != 0 {
					panic(http.ErrAbortHandler) // too late to say so; the client must not take the answer for whole
				}
				writeError(a, http.StatusInternalServerError, codes.Internal, "internal error; the server's log says more")
			}
			g.Log.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("method", r.Method), slog.String("path", r.URL.Path),
				slog.Int("status", a.status), slog.Duration("took", time.Since(start).Round(time.Microsecond)))
		}()
		next.ServeHTTP(a, r)
	})
}
