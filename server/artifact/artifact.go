// Package artifact stores the files of runs: logs, metrics files, outputs.
package artifact

import (
	"context"
	"io"
)

// Store keeps objects by key. Get of a missing key is a *apierr.Error of kind NotFound.
type Store interface {
	Put(ctx context.Context, key string, r io.Reader, size int64) error // size -1: unknown
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
	// Size gives how many bytes an artifact takes: an object, or all objects of a folder. A missing one is NotFound.
	Size(ctx context.Context, key string) (int64, error)
	// DeleteAll removes an artifact: an object, or all objects of a folder. One that is not there is success.
	DeleteAll(ctx context.Context, key string) error
}
