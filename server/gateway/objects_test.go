package gateway_test

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/argosy-ml/argosy/server/apierr"
)

// objects is an artifact store in memory.
type objects struct {
	mu   sync.Mutex
	data map[string][]byte
	made map[string]*made // in place of data: what is made while it is read
}

func (o *objects) Put(_ context.Context, key string, r io.Reader, _ int64) error {
	data, err := io.ReadAll(r)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.data[key] = data
	return err
}

func (o *objects) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if made, ok := o.made[key]; ok {
		made.ctx = ctx
		return made, nil
	}
	data, ok := o.data[key]
	if !ok {
		return nil, apierr.New(apierr.NotFound, "%s not found", key)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (o *objects) Delete(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.data, key)
	return nil
}

func (o *objects) Size(_ context.Context, key string) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	data, ok := o.data[key]
	if !ok {
		return 0, apierr.New(apierr.NotFound, "%s not found", key)
	}
	return int64(len(data)), nil
}

func (o *objects) DeleteAll(ctx context.Context, key string) error { return o.Delete(ctx, key) }
