// Package s3 keeps artifacts in a bucket of any S3 service.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/artifact"
)

var _ artifact.Store = (*Store)(nil)

// partSize of uploads whose size is not known; without it minio-go buffers half a gigabyte.
const partSize = 16 << 20

// maxRetries of one request. Callers that must not give up retry themselves.
const maxRetries = 3

// Config says where the bucket is.
type Config struct {
	Endpoint  string // host:port
	AccessKey string
	SecretKey string
	Bucket    string
	Secure    bool // TLS
}

// Store is a bucket.
type Store struct {
	client *minio.Client
	bucket string
}

// New makes a store; it does not talk to the service yet.
func New(c Config) (*Store, error) {
	client, err := minio.New(c.Endpoint, c.options())
	if err != nil {
		return nil, fmt.Errorf("artifact store %s: %w", c.Endpoint, err)
	}
	return &Store{client: client, bucket: c.Bucket}, nil
}

// options leave the form of addresses to minio-go, which knows the services that take a bucket only as part of the host's name, as
// OSS does.
func (c Config) options() *minio.Options {
	return &minio.Options{Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey, ""), Secure: c.Secure, MaxRetries: maxRetries}
}

// Put stores an object, in place of one that is there.
func (s *Store) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	o := minio.PutObjectOptions{ContentType: "application/octet-stream"}
	if size < 0 {
		o.PartSize = partSize
	}
	_, err := s.client.PutObject(ctx, s.bucket, key, r, size, o)
	return explain("store", key, err)
}

// Get reads an object; a missing one is NotFound at once, not at the first Read.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	object, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, explain("read", key, err)
	}
	if _, err := object.Stat(); err != nil {
		object.Close() //nolint:errcheck // nothing was read
		return nil, explain("read", key, err)
	}
	return object, nil
}

// Delete removes an object; one that is not there is success.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := explain("delete", key, s.client.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if err != nil && apierr.KindOf(err) == apierr.NotFound {
		return nil
	}
	return err
}

// Size implements artifact.Store.
func (s *Store) Size(ctx context.Context, key string) (int64, error) {
	object, err := s.client.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err == nil {
		return object.Size, nil
	}
	if err := explain("measure", key, err); apierr.KindOf(err) != apierr.NotFound {
		return 0, err
	}
	size, found := int64(0), false
	for object := range s.folder(ctx, key) {
		if object.Err != nil {
			return 0, explain("measure", key, object.Err)
		}
		size, found = size+object.Size, true
	}
	if !found {
		return 0, apierr.New(apierr.NotFound, "the artifact store has no %s", key)
	}
	return size, nil
}

// DeleteAll implements artifact.Store.
func (s *Store) DeleteAll(ctx context.Context, key string) error {
	for object := range s.folder(ctx, key) {
		if object.Err != nil {
			return explain("delete", key, object.Err)
		}
		if err := s.Delete(ctx, object.Key); err != nil {
			return err
		}
	}
	if _, err := s.client.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{}); err != nil {
		err = explain("delete", key, err)
		if apierr.KindOf(err) == apierr.NotFound {
			return nil // stores that keep folders as such refuse to delete one as an object, even when nothing is left in it
		}
		return err
	}
	return s.Delete(ctx, key)
}

// folder lists what lies under a key. The caller reads it to its end, or ends ctx.
func (s *Store) folder(ctx context.Context, key string) <-chan minio.ObjectInfo {
	return s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: strings.TrimSuffix(key, "/") + "/", Recursive: true})
}

func explain(doing, key string, err error) error {
	if err == nil {
		return nil
	}
	switch answer := minio.ToErrorResponse(err); {
	case errors.Is(err, context.Canceled):
		return err
	case answer.Code == minio.NoSuchKey:
		return apierr.New(apierr.NotFound, "the artifact store has no %s", key).Because(err)
	case answer.StatusCode == 0 || answer.StatusCode >= 500:
		return apierr.New(apierr.Unavailable, "the artifact store does not answer: %s %s", doing, key).Because(err)
	default:
		return apierr.New(apierr.Internal, "the artifact store refuses to %s %s: %s", doing, key, answer.Code).Because(err)
	}
}
