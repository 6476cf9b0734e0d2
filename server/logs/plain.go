package logs

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/argosy-ml/argosy/server/artifact"
	"github.com/argosy-ml/argosy/server/fault"
)

// IsPlain tells the keys of logs that servers before 0.3 kept: one gzipped object for each step, written at its end.
func IsPlain(key string) bool { return strings.HasSuffix(key, ".log.gz") }

// OpenPlain reads such a log; the caller closes it.
func OpenPlain(ctx context.Context, store artifact.Store, key string) (io.ReadCloser, error) {
	packed, err := store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	text, err := gzip.NewReader(packed)
	if err != nil {
		return nil, errors.Join(fault.New(fault.Internal, "the archived log is damaged").Because(err), packed.Close())
	}
	return unzipped{text, packed}, nil
}

// unzipped closes the object under the decompressor too.
type unzipped struct {
	*gzip.Reader
	packed io.Closer
}

func (u unzipped) Close() error { return errors.Join(u.Reader.Close(), u.packed.Close()) }
