package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

var _ pipeline.Store = (*Store)(nil)

var pipelineList = table{table: "pipelines", fields: map[string]field{
	"id": {"id", text}, "name": {"name", text}, "description": {"description", text}, "created_at": {"created_at", moment},
	"namespace": noNamespace,
}}

func versionList(pipelineID string) table {
	return table{
		table:  "versions",
		fields: map[string]field{"id": {"id", text}, "name": {"name", text}, "created_at": {"created_at", moment}, "status": ready},
		scope:  []condition{{"pipeline_id = ?", []any{pipelineID}}},
	}
}

// CreatePipeline implements pipeline.Store.
func (s *pipelines) CreatePipeline(ctx context.Context, p pipeline.Pipeline, manifest []byte) error {
	if err := checkName("a pipeline", p.Name); err != nil {
		return err
	}
	return s.write(ctx, func(q *query.Queries) error {
		err := q.InsertPipeline(ctx, query.InsertPipelineParams{
			ID: p.ID, Name: p.Name, Description: p.Description, CreatedAt: micros(p.CreatedAt), DefaultVersion: p.Default.ID,
		})
		if err != nil {
			return s.taken(err, "pipelines.name", "a pipeline named %q exists already. Please specify a new name, or upload a new version of it.", p.Name)
		}
		return s.insertVersion(ctx, q, p.Default, manifest)
	})
}

// CreateVersion implements pipeline.Store.
func (s *pipelines) CreateVersion(ctx context.Context, v pipeline.Version, manifest []byte) error {
	if err := checkName("a pipeline version", v.Name); err != nil {
		return err
	}
	return s.write(ctx, func(q *query.Queries) error {
		n, err := q.SetDefaultVersion(ctx, query.SetDefaultVersionParams{ID: v.PipelineID, DefaultVersion: v.ID})
		if err != nil || n == 0 {
			return orNotFound("pipeline", v.PipelineID, err)
		}
		return s.insertVersion(ctx, q, v, manifest)
	})
}

func (s *pipelines) insertVersion(ctx context.Context, q *query.Queries, v pipeline.Version, manifest []byte) error {
	kept, err := keepManifest(ctx, q, manifest)
	if err != nil {
		return err
	}
	err = q.InsertVersion(ctx, query.InsertVersionParams{
		ID: v.ID, PipelineID: v.PipelineID, Name: v.Name, Description: v.Description, CodeSourceUrl: v.CodeSourceURL,
		CreatedAt: micros(v.CreatedAt), Parameters: toJSON(v.Parameters), Manifest: kept,
	})
	return s.taken(err, "versions.name", "the pipeline has a version named %q already. Please specify a new name.", v.Name)
}

// keepManifest stores a manifest once for all versions that refer to it.
func keepManifest(ctx context.Context, q *query.Queries, manifest []byte) (int64, error) {
	sum := sha256.Sum256(manifest)
	seq, err := q.ManifestByDigest(ctx, sum[:])
	if errors.Is(err, sql.ErrNoRows) {
		seq, err = q.InsertManifest(ctx, query.InsertManifestParams{Digest: sum[:], Data: pack(manifest)})
	}
	return seq, trouble("keep manifest", err)
}

// Pipeline implements pipeline.Store.
func (s *pipelines) Pipeline(ctx context.Context, id string) (pipeline.Pipeline, error) {
	row, err := s.read().Pipeline(ctx, id)
	if err != nil {
		return pipeline.Pipeline{}, missing("pipeline", id, err)
	}
	return s.withDefault(ctx, row)
}

// PipelineByName implements pipeline.Store.
func (s *pipelines) PipelineByName(ctx context.Context, name string) (pipeline.Pipeline, error) {
	row, err := s.read().PipelineByName(ctx, name)
	if err != nil {
		return pipeline.Pipeline{}, missing("pipeline", name, err)
	}
	return s.withDefault(ctx, row)
}

func (s *pipelines) withDefault(ctx context.Context, row query.Pipeline) (pipeline.Pipeline, error) {
	found, err := s.withDefaults(ctx, []query.Pipeline{row})
	return found[row.Seq], err
}

// withDefaults reads the default versions of pipelines in one query.
func (s *pipelines) withDefaults(ctx context.Context, rows []query.Pipeline) (map[int64]pipeline.Pipeline, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.DefaultVersion
	}
	versions, err := s.read().VersionsByID(ctx, ids)
	if err != nil {
		return nil, trouble("read versions", err)
	}
	byID := map[string]pipeline.Version{}
	for _, v := range versions {
		if byID[v.ID], err = versionOf(v); err != nil {
			return nil, err
		}
	}
	bySeq := map[int64]pipeline.Pipeline{}
	for _, row := range rows {
		bySeq[row.Seq] = pipeline.Pipeline{
			ID: row.ID, Name: row.Name, Description: row.Description, CreatedAt: timeOf(row.CreatedAt), Default: byID[row.DefaultVersion],
		}
	}
	return bySeq, nil
}

// Pipelines implements pipeline.Store.
func (s *pipelines) Pipelines(ctx context.Context, q listing.Query) (listing.Page[pipeline.Pipeline], error) {
	chosen, err := s.page(ctx, pipelineList, q)
	if err != nil {
		return listing.Page[pipeline.Pipeline]{}, err
	}
	found, err := s.read().PipelinesBySeq(ctx, chosen.seqs)
	if err != nil {
		return listing.Page[pipeline.Pipeline]{}, trouble("read pipelines", err)
	}
	bySeq, err := s.withDefaults(ctx, found)
	return pageOf(chosen, bySeq), err
}

// DeletePipeline implements pipeline.Store.
func (s *pipelines) DeletePipeline(ctx context.Context, id string) error {
	return s.write(ctx, func(q *query.Queries) error {
		manifests, err := q.ManifestsOfPipeline(ctx, id)
		if err != nil {
			return trouble("read manifests", err)
		}
		n, err := q.DeletePipeline(ctx, id) // takes its versions along
		if err != nil || n == 0 {
			return orNotFound("pipeline", id, err)
		}
		return dropManifests(ctx, q, manifests...)
	})
}

// dropManifests removes manifests that nothing refers to any more.
func dropManifests(ctx context.Context, q *query.Queries, seqs ...int64) error {
	for _, seq := range seqs {
		if err := q.DropManifest(ctx, seq); err != nil {
			return trouble("drop manifest", err)
		}
	}
	return nil
}

// Version implements pipeline.Store.
func (s *pipelines) Version(ctx context.Context, id string) (pipeline.Version, error) {
	row, err := s.read().Version(ctx, id)
	if err != nil {
		return pipeline.Version{}, missing("pipeline version", id, err)
	}
	return versionOf(row)
}

// Versions implements pipeline.Store.
func (s *pipelines) Versions(ctx context.Context, pipelineID string, q listing.Query) (listing.Page[pipeline.Version], error) {
	chosen, err := s.page(ctx, versionList(pipelineID), q)
	if err != nil {
		return listing.Page[pipeline.Version]{}, err
	}
	found, err := s.read().VersionsBySeq(ctx, chosen.seqs)
	if err != nil {
		return listing.Page[pipeline.Version]{}, trouble("read versions", err)
	}
	bySeq := map[int64]pipeline.Version{}
	for _, row := range found {
		if bySeq[row.Seq], err = versionOf(row); err != nil {
			return listing.Page[pipeline.Version]{}, err
		}
	}
	return pageOf(chosen, bySeq), nil
}

// SetDefaultVersion implements pipeline.Store.
func (s *pipelines) SetDefaultVersion(ctx context.Context, pipelineID, versionID string) error {
	return s.write(ctx, func(q *query.Queries) error {
		v, err := q.Version(ctx, versionID)
		if err != nil {
			return missing("pipeline version", versionID, err)
		}
		if v.PipelineID != pipelineID {
			return apierr.New(apierr.Invalid, "version %s does not belong to pipeline %s", versionID, pipelineID)
		}
		_, err = q.SetDefaultVersion(ctx, query.SetDefaultVersionParams{ID: pipelineID, DefaultVersion: versionID})
		return trouble("set default version", err)
	})
}

// DeleteVersion implements pipeline.Store.
func (s *pipelines) DeleteVersion(ctx context.Context, id string) error {
	return s.write(ctx, func(q *query.Queries) error {
		v, err := q.Version(ctx, id)
		if err != nil {
			return missing("pipeline version", id, err)
		}
		if err := q.DeleteVersion(ctx, id); err != nil {
			return trouble("delete version", err)
		}
		p, err := q.Pipeline(ctx, v.PipelineID)
		if err != nil {
			return trouble("read pipeline", err)
		}
		if p.DefaultVersion == id {
			newest, err := q.NewestVersion(ctx, p.ID)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return trouble("read versions", err)
			}
			if _, err := q.SetDefaultVersion(ctx, query.SetDefaultVersionParams{ID: p.ID, DefaultVersion: newest}); err != nil {
				return trouble("set default version", err)
			}
		}
		return dropManifests(ctx, q, v.Manifest)
	})
}

// VersionManifest implements pipeline.Store.
func (s *pipelines) VersionManifest(ctx context.Context, versionID string) ([]byte, error) {
	data, err := s.read().VersionManifest(ctx, versionID)
	if err != nil {
		return nil, missing("pipeline version", versionID, err)
	}
	return unpack(data)
}

func versionOf(row query.Version) (pipeline.Version, error) {
	v := pipeline.Version{
		ID: row.ID, PipelineID: row.PipelineID, Name: row.Name, Description: row.Description, CodeSourceURL: row.CodeSourceUrl,
		CreatedAt: timeOf(row.CreatedAt),
	}
	return v, fromJSON(row.Parameters, &v.Parameters)
}
