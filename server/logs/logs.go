// Package logs keeps the logs of steps in the artifact store, so that they stay when the pods are gone.
package logs

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/argosy-ml/argosy/server/artifact"
	"github.com/argosy-ml/argosy/server/fault"
)

// Key is where the log of a step's main container is kept.
func Key(runID, nodeID string) string {
	return fmt.Sprintf("runs/%s/%s/main.log.gz", runID, nodeID)
}

// Archive reads a log to its end and keeps it, compressed, under key. The object appears whole or not at all.
func Archive(ctx context.Context, store artifact.Store, key string, log io.Reader) error {
	spool, err := os.CreateTemp("", "argosy-log-*.gz")
	if err != nil {
		return fmt.Errorf("keep log %s: %w", key, err)
	}
	defer func() { _ = errors.Join(spool.Close(), os.Remove(spool.Name())) }()
	size, err := compress(spool, log)
	if err != nil {
		return fmt.Errorf("keep log %s: %w", key, err)
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("keep log %s: %w", key, err)
	}
	return store.Put(ctx, key, spool, size)
}

func compress(file *os.File, log io.Reader) (size int64, err error) {
	buffered := bufio.NewWriter(file)
	zipper := gzip.NewWriter(buffered)
	if _, err := io.Copy(zipper, log); err != nil {
		return 0, err
	}
	if err := zipper.Close(); err != nil {
		return 0, err
	}
	if err := buffered.Flush(); err != nil {
		return 0, err
	}
	return file.Seek(0, io.SeekEnd)
}

// Open reads a kept log; the caller closes it.
func Open(ctx context.Context, store artifact.Store, key string) (io.ReadCloser, error) {
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

// Copy keeps a log under another key as well, so that it does not go with the first.
func Copy(ctx context.Context, store artifact.Store, from, to string) error {
	packed, err := store.Get(ctx, from)
	if err != nil {
		return err
	}
	defer packed.Close()
	return store.Put(ctx, to, packed, -1)
}
