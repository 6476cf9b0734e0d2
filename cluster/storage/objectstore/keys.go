package objectstore

import (
	"fmt"
	"io"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// maxSegment is the longest part of a key between two slashes: each is the name of a file or folder.
const maxSegment = 255

// checkKey refuses keys, and prefixes of keys, that cannot be the path of a file below the bucket's folder. S3 itself takes them for
// names like others.
func checkKey(key string) error {
	for segment := range strings.SplitSeq(key, "/") {
		switch {
		case segment == "." || segment == ".." || strings.ContainsRune(segment, 0):
			return gofakes3.ErrorMessage(gofakes3.ErrInvalidArgument, fmt.Sprintf("the key %q has the part %q, which this store cannot keep", key, segment))
		case len(segment) > maxSegment:
			return gofakes3.ErrorMessage(gofakes3.ErrKeyTooLong, fmt.Sprintf("a part of the key has %d bytes; this store keeps at most %d between two slashes", len(segment), maxSegment))
		}
	}
	return nil
}

// isBucketName says whether a name may be that of a bucket's folder.
func isBucketName(name string) bool { return name != "." && name != ".." }

// checkedKeys is a backend that gets only keys it can keep.
type checkedKeys struct{ gofakes3.Backend }

func (b checkedKeys) BucketExists(name string) (bool, error) {
	if !isBucketName(name) {
		return false, nil
	}
	return b.Backend.BucketExists(name)
}

func (b checkedKeys) CreateBucket(name string) error {
	if !isBucketName(name) {
		return gofakes3.ResourceError(gofakes3.ErrInvalidBucketName, name)
	}
	return b.Backend.CreateBucket(name)
}

func (b checkedKeys) ListBucket(bucket string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList, error) {
	if prefix != nil {
		if err := checkKey(prefix.Prefix); err != nil {
			return nil, err
		}
	}
	return b.Backend.ListBucket(bucket, prefix, page)
}

func (b checkedKeys) GetObject(bucket, key string, part *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return b.Backend.GetObject(bucket, key, part)
}

func (b checkedKeys) HeadObject(bucket, key string) (*gofakes3.Object, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return b.Backend.HeadObject(bucket, key)
}

func (b checkedKeys) PutObject(bucket, key string, meta map[string]string, input io.Reader, size int64, conditions *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	if err := checkKey(key); err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	return b.Backend.PutObject(bucket, key, meta, input, size, conditions)
}

func (b checkedKeys) CopyObject(fromBucket, fromKey, toBucket, toKey string, meta map[string]string) (gofakes3.CopyObjectResult, error) {
	for _, key := range []string{fromKey, toKey} {
		if err := checkKey(key); err != nil {
			return gofakes3.CopyObjectResult{}, err
		}
	}
	return b.Backend.CopyObject(fromBucket, fromKey, toBucket, toKey, meta)
}

func (b checkedKeys) DeleteObject(bucket, key string) (gofakes3.ObjectDeleteResult, error) {
	if err := checkKey(key); err != nil {
		return gofakes3.ObjectDeleteResult{}, err
	}
	return b.Backend.DeleteObject(bucket, key)
}

// DeleteMulti deletes what it can, and says of each other key why not.
func (b checkedKeys) DeleteMulti(bucket string, keys ...string) (gofakes3.MultiDeleteResult, error) {
	var good []string
	var refused []gofakes3.ErrorResult
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			refusal := gofakes3.ErrorResultFromError(err)
			refusal.Key = key
			refused = append(refused, refusal)
		} else {
			good = append(good, key)
		}
	}
	done, err := b.Backend.DeleteMulti(bucket, good...)
	done.Error = append(done.Error, refused...)
	return done, err
}
