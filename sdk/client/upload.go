package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
)

// MaxUpload is the largest package a server takes, in bytes.
const MaxUpload = 32 << 20

type upload struct {
	description, file string
}

// UploadOption describes a package.
type UploadOption func(*upload)

// Description is shown with the pipeline or version.
func Description(text string) UploadOption { return func(u *upload) { u.description = text } }

// FileName is the name of the uploaded file. Servers read .yaml, .yml and .json files as YAML, and detect archives in all others. By
// default the name follows from the content.
func FileName(name string) UploadOption { return func(u *upload) { u.file = name } }

// Upload creates a pipeline from a package (.tar.gz, .zip or YAML). An empty name means the file's name. If the name is taken,
// IsConflict(err) is true: upload a version instead.
func (s PipelinesService) Upload(ctx context.Context, name string, r io.Reader, opts ...UploadOption) (*Pipeline, error) {
	var p Pipeline
	err := s.conn.upload(ctx, "/pipelines/upload", url.Values{"name": {name}}, r, opts, &p)
	return &p, conflict(err, func() error { _, err := s.ByName(ctx, name); return err })
}

// Upload makes a new version of a pipeline, which becomes its default.
func (s VersionsService) Upload(ctx context.Context, pipelineID, name string, r io.Reader, opts ...UploadOption) (*PipelineVersion, error) {
	var v PipelineVersion
	err := s.conn.upload(ctx, "/pipelines/upload_version", url.Values{"name": {name}, "pipelineid": {pipelineID}}, r, opts, &v)
	return &v, conflict(err, func() error { _, err := s.ByName(ctx, pipelineID, name); return err })
}

// conflict gives a failed upload the code of a name that is taken, if it is: KFP v1 answers 500 to that as to all else.
func conflict(err error, taken func() error) error {
	if e := (*Error)(nil); errors.As(err, &e) && e.Status == http.StatusInternalServerError && e.Code == 0 && taken() == nil {
		e.Code = CodeAlreadyExists
	}
	return err
}

func (c *connection) upload(ctx context.Context, path string, query url.Values, r io.Reader, opts []UploadOption, out any) error {
	// The package is held whole so that a refused connection can be tried again.
	content, err := io.ReadAll(io.LimitReader(r, MaxUpload+1))
	if err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	if len(content) > MaxUpload {
		return fmt.Errorf("the package is larger than %d MiB, the most a server takes", MaxUpload>>20)
	}
	var u upload
	for _, o := range opts {
		o(&u)
	}
	if u.description != "" {
		query.Set("description", u.description)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("uploadfile", firstOf(u.file, fileNameOf(content)))
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return fmt.Errorf("build the upload: %w", err)
	}
	return c.decode(ctx, request{
		method: http.MethodPost, path: kfpAPI + path, query: query,
		body: body.Bytes(), contentType: form.FormDataContentType(),
	}, out)
}

func fileNameOf(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("PK")):
		return "pipeline.zip"
	case bytes.HasPrefix(content, []byte{0x1f, 0x8b}):
		return "pipeline.tar.gz"
	}
	return "pipeline.yaml"
}
