// Package artifact is the store of files that runs leave behind: logs, metrics files, outputs.
package artifact

import (
	"context"
	"io"
)

// Store keeps objects by key. Get of a missing key is a *fault.Error of kind NotFound.
type Store interface {
	Put(ctx context.Context, key string, r io.Reader, size int64) error // size -1: unknown
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
}
