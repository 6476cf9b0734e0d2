package objectstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/http/httputil"
	"os"
	"strconv"
	"strings"
)

const (
	payloadHash    = "X-Amz-Content-Sha256"
	decodedLength  = "X-Amz-Decoded-Content-Length"
	streaming      = "STREAMING-" // of a body that comes in signed chunks
	unsigned       = "UNSIGNED-PAYLOAD"
	sha256HexChars = 64
)

// complete takes the whole body of an upload into a file in dir before the
// store sees it. An upload that breaks off or that is not what its sender
// hashed leaves an object as it was, and a slow sender delays no other request.
// It also takes signed chunks apart, which gofakes3 forgets for parts of an upload.
func complete(next http.Handler, dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || r.ContentLength == 0 || r.Header.Get("X-Amz-Copy-Source") != "" {
			next.ServeHTTP(w, r)
			return
		}
		f, size, err := spool(dir, r)
		if err != nil {
			refuse(w, http.StatusBadRequest, "IncompleteBody", err)
			return
		}
		defer f.Close()
		// net/http goes by its own request when it clears the connection for the next one, so that stays as it came.
		upload := r.Clone(r.Context())
		upload.Body, upload.ContentLength = f, size
		upload.Header.Set("Content-Length", strconv.FormatInt(size, 10))
		upload.Header.Set(payloadHash, unsigned)
		next.ServeHTTP(w, upload)
	})
}

// spool copies a body into a file without a name, which goes when it is closed.
func spool(dir string, r *http.Request) (_ *os.File, size int64, err error) {
	var body io.Reader = r.Body
	want := r.ContentLength
	if strings.HasPrefix(r.Header.Get(payloadHash), streaming) {
		// The format is that of HTTP's own chunks, with each chunk's signature as an extension.
		body = httputil.NewChunkedReader(r.Body)
		if want, err = strconv.ParseInt(r.Header.Get(decodedLength), 10, 64); err != nil {
			return nil, 0, fmt.Errorf("the header %s holds no length", decodedLength)
		}
	}
	var sum hash.Hash
	hashed := strings.ToLower(r.Header.Get(payloadHash))
	if len(hashed) == sha256HexChars {
		sum = sha256.New()
		body = io.TeeReader(body, sum)
	}
	f, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return nil, 0, errors.New("no room for the upload")
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if err := os.Remove(f.Name()); err != nil {
		return nil, 0, err
	}
	if size, err = io.Copy(f, body); err != nil {
		return nil, 0, errors.New("the body broke off")
	}
	if want >= 0 && size != want {
		return nil, 0, fmt.Errorf("the body has %d bytes instead of %d", size, want)
	}
	if sum != nil && hex.EncodeToString(sum.Sum(nil)) != hashed {
		return nil, 0, errors.New("the body is not the one that was signed")
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, size, err
}

// refuse answers as S3 does. The message must hold no markup.
func refuse(w http.ResponseWriter, status int, code string, err error) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`, code, err)
}
