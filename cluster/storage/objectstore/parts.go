package objectstore

import (
	"crypto/md5" // S3's entity tags are MD5 sums
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// store adds uploads in parts to a backend. gofakes3's own way keeps all parts
// in memory; here they are files, as large artifacts would not fit.
type store struct {
	gofakes3.Backend
	dir string // of the parts

	mu      sync.Mutex
	uploads map[gofakes3.UploadID]*upload
}

var _ gofakes3.MultipartBackend = (*store)(nil)

type upload struct {
	bucket, object string
	meta           map[string]string
	begun          time.Time

	mu    sync.Mutex
	parts map[int]part
}

type part struct {
	path  string
	etag  string // quoted, as S3 has it
	sum   []byte
	size  int64
	since time.Time
}

func newStore(b gofakes3.Backend, dir string) *store {
	return &store{Backend: b, dir: dir, uploads: map[gofakes3.UploadID]*upload{}}
}

// ListBucket finds nothing where there is nothing. The backend looks into the prefix's folder, and says of one that is not there
// that the bucket is missing.
func (s *store) ListBucket(name string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList, error) {
	list, err := s.Backend.ListBucket(name, prefix, page)
	if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchBucket) {
		if there, berr := s.BucketExists(name); berr == nil && there {
			return gofakes3.NewObjectList(), nil
		}
	}
	return list, err
}

func (s *store) CreateMultipartUpload(bucket, object string, meta map[string]string) (gofakes3.UploadID, error) {
	if ok, err := s.BucketExists(bucket); err != nil {
		return "", err
	} else if !ok {
		return "", gofakes3.BucketNotFound(bucket)
	}
	if err := checkKey(object); err != nil {
		return "", err
	}
	id := gofakes3.UploadID(rand.Text())
	if err := os.Mkdir(s.folder(id), 0o700); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads[id] = &upload{bucket: bucket, object: object, meta: meta, begun: time.Now(), parts: map[int]part{}}
	return id, nil
}

func (s *store) UploadPart(bucket, object string, id gofakes3.UploadID, number int, length int64, input io.Reader) (string, error) {
	u, err := s.find(bucket, object, id)
	if err != nil {
		return "", err
	}
	// A part that is sent again must not overwrite the file under the eyes of a reader.
	f, err := os.CreateTemp(s.folder(id), "part-*")
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := md5.New() // S3's entity tags are MD5 sums
	size, err := io.Copy(io.MultiWriter(f, sum), input)
	if err != nil {
		return "", err
	}
	if size != length {
		return "", gofakes3.ErrIncompleteBody
	}
	p := part{path: f.Name(), sum: sum.Sum(nil), size: size, since: time.Now()}
	p.etag = `"` + hex.EncodeToString(p.sum) + `"`
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts[number] = p
	return p.etag, f.Close()
}

// CompleteMultipartUpload joins the listed parts into the object.
func (s *store) CompleteMultipartUpload(bucket, object string, id gofakes3.UploadID, in *gofakes3.CompleteMultipartUploadRequest) (gofakes3.VersionID, string, error) {
	u, err := s.find(bucket, object, id)
	if err != nil {
		return "", "", err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	var readers []io.Reader
	var size int64
	sums := md5.New() // S3's entity tags are MD5 sums
	for _, want := range in.Parts {
		p, ok := u.parts[want.PartNumber]
		if !ok || strings.Trim(want.ETag, `"`) != strings.Trim(p.etag, `"`) {
			return "", "", gofakes3.ErrInvalidPart
		}
		f, err := os.Open(p.path)
		if err != nil {
			return "", "", err
		}
		defer f.Close() // all at the end: they are read one after the other below
		readers = append(readers, f)
		size += p.size
		sums.Write(p.sum)
	}
	if _, err := s.PutObject(bucket, object, u.meta, io.MultiReader(readers...), size, nil); err != nil {
		return "", "", err
	}
	etag := fmt.Sprintf(`"%s-%d"`, hex.EncodeToString(sums.Sum(nil)), len(in.Parts))
	return "", etag, s.forget(id)
}

func (s *store) AbortMultipartUpload(bucket, object string, id gofakes3.UploadID) error {
	if _, err := s.find(bucket, object, id); err != nil {
		return err
	}
	return s.forget(id)
}

func (s *store) ListParts(bucket, object string, id gofakes3.UploadID, marker int, limit int64) (*gofakes3.ListMultipartUploadPartsResult, error) {
	u, err := s.find(bucket, object, id)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	out := &gofakes3.ListMultipartUploadPartsResult{
		Bucket: bucket, Key: object, UploadID: id, StorageClass: "STANDARD", PartNumberMarker: marker, MaxParts: limit,
	}
	for _, n := range slices.Sorted(maps.Keys(u.parts)) {
		if n <= marker {
			continue
		}
		if int64(len(out.Parts)) == limit {
			out.IsTruncated, out.NextPartNumberMarker = true, out.Parts[limit-1].PartNumber
			break
		}
		p := u.parts[n]
		out.Parts = append(out.Parts, gofakes3.ListMultipartUploadPartItem{
			PartNumber: n, ETag: p.etag, Size: p.size, LastModified: gofakes3.NewContentTime(p.since),
		})
	}
	return out, nil
}

// ListMultipartUploads lists all uploads that match on one page: there are never many.
func (s *store) ListMultipartUploads(bucket string, _ *gofakes3.UploadListMarker, prefix gofakes3.Prefix, limit int64) (*gofakes3.ListMultipartUploadsResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &gofakes3.ListMultipartUploadsResult{Bucket: bucket, Prefix: prefix.Prefix, Delimiter: prefix.Delimiter, MaxUploads: limit}
	for id, u := range s.uploads {
		if u.bucket == bucket && prefix.Match(u.object, nil) {
			out.Uploads = append(out.Uploads, gofakes3.ListMultipartUploadItem{
				Key: u.object, UploadID: id, StorageClass: "STANDARD", Initiated: gofakes3.NewContentTime(u.begun),
			})
		}
	}
	slices.SortFunc(out.Uploads, func(a, b gofakes3.ListMultipartUploadItem) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

func (s *store) find(bucket, object string, id gofakes3.UploadID) (*upload, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, ok := s.uploads[id]
	if !ok || u.bucket != bucket || u.object != object {
		return nil, gofakes3.ErrNoSuchUpload
	}
	return u, nil
}

func (s *store) forget(id gofakes3.UploadID) error {
	s.mu.Lock()
	delete(s.uploads, id)
	s.mu.Unlock()
	if err := os.RemoveAll(s.folder(id)); err != nil {
		return errors.Join(errors.New("unfinished upload"), err)
	}
	return nil
}

func (s *store) folder(id gofakes3.UploadID) string { return filepath.Join(s.dir, string(id)) }
