package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

// fileField is the name of the form's file.
const fileField = "uploadfile"

func (g *gateway) uploadPipeline(w http.ResponseWriter, r *http.Request) {
	g.upload(w, r, func(ctx context.Context, u pipeline.Upload) (proto.Message, error) {
		p, err := g.Pipelines.Create(ctx, u)
		return api.Pipeline(p), err
	})
}

func (g *gateway) uploadVersion(w http.ResponseWriter, r *http.Request) {
	g.upload(w, r, func(ctx context.Context, u pipeline.Upload) (proto.Message, error) {
		u.PipelineID = r.URL.Query().Get("pipelineid")
		v, err := g.Pipelines.CreateVersion(ctx, u)
		return api.PipelineVersion(v), err
	})
}

func (g *gateway) upload(w http.ResponseWriter, r *http.Request, create func(context.Context, pipeline.Upload) (proto.Message, error)) {
	name, data, err := formFile(r)
	if err != nil {
		g.refuseUpload(w, r, err)
		return
	}
	query := r.URL.Query()
	created, err := create(r.Context(), pipeline.Upload{
		FileName: name, Data: data, Name: query.Get("name"), Description: query.Get("description"),
	})
	if err != nil {
		g.refuseUpload(w, r, err)
		return
	}
	body, err := newMarshaler().Marshal(created)
	if err != nil {
		g.refuseUpload(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body) //nolint:errcheck // the client went away
}

// formFile reads the file of a multipart form.
func formFile(r *http.Request) (name string, data []byte, err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return "", nil, apierr.New(apierr.Invalid, "send the file as multipart/form-data in the field %q: %v", fileField, err)
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return "", nil, apierr.New(apierr.Invalid, "the form has no file in the field %q", fileField)
		}
		if err != nil {
			return "", nil, apierr.New(apierr.Invalid, "the form is damaged: %v", err)
		}
		if part.FormName() != fileField {
			continue
		}
		if part.FileName() == "" {
			return "", nil, apierr.New(apierr.Invalid, "the field %q holds no file: its file name is missing", fileField)
		}
		data, err := io.ReadAll(io.LimitReader(part, pkgfile.MaxSize+1))
		switch {
		case err != nil:
			return "", nil, apierr.New(apierr.Invalid, "%s did not arrive whole: %v", part.FileName(), err)
		case len(data) > pkgfile.MaxSize:
			return "", nil, apierr.New(apierr.Invalid, "%s is larger than %d MiB", part.FileName(), pkgfile.MaxSize>>20)
		}
		return part.FileName(), data, nil
	}
}

// refuseUpload answers as KFP's upload endpoints do: 400 for what is wrong with the file, 500 for the rest, names that
// are taken included. The code in the body tells these apart: 6 is a name that is taken.
func (g *gateway) refuseUpload(w http.ResponseWriter, r *http.Request, err error) {
	api.Log(r.Context(), g.Log, r.Method+" "+r.URL.Path, time.Now(), err)
	status := http.StatusInternalServerError
	if apierr.KindOf(err) == apierr.Invalid {
		status = http.StatusBadRequest
	}
	s := api.Status(err)
	answer := uploadError{Message: s.Message(), Details: s.Message(), Code: s.Code()}
	if refused := (*pipeline.Refused)(nil); errors.As(err, &refused) {
		answer.Faults = refused.Faults
	}
	writeJSON(w, status, answer)
}
