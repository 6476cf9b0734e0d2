package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// Record implements run.Store. It writes only what differs from what is there, so that seeing the same state again costs a read.
func (s *nodes) Record(ctx context.Context, id string, state run.State) (changed bool, err error) {
	err = s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		changed = false
		if run.Final(row.Status) && !run.Final(state.Status) || state.Attempt < row.Attempt {
			return nil // an old view of the Workflow, or one that goes on after the run was given up
		}
		tick := ticker(ctx, q)
		nodes, err := recordNodes(ctx, q, row, state.Nodes, tick)
		if err != nil {
			return err
		}
		workflow, err := recordWorkflow(ctx, q, row.Seq, state.Workflow)
		if err != nil {
			return err
		}
		before := row
		row.Status, row.Message = outcome(row, state)
		row.StartedAt, row.FinishedAt = micros(state.StartedAt), micros(state.FinishedAt)
		if changed = nodes || workflow || row != before; !changed {
			return nil
		}
		revision, err := tick()
		if err != nil {
			return err
		}
		err = q.SetRunState(ctx, query.SetRunStateParams{
			Seq: row.Seq, Status: row.Status, Message: row.Message, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt, Revision: revision,
		})
		return trouble("record run", err)
	})
	return changed, err
}

// terminated is the message of a run that was stopped on request, whatever its Workflow says about the way it was stopped.
const terminated = "terminated"

// outcome gives the status and message of a run whose Workflow is in a state.
func outcome(row query.Run, state run.State) (status, message string) {
	stopped := row.Status == run.Terminating || row.Status == run.Terminated
	switch {
	case stopped && (state.Status == run.Failed || state.Status == run.Error):
		return run.Terminated, terminated
	case row.Status == run.Terminating && !run.Final(state.Status): // stopping is what the user sees until it has stopped
		return row.Status, row.Message
	}
	return state.Status, state.Message
}

func recordWorkflow(ctx context.Context, q *query.Queries, seq int64, workflow []byte) (changed bool, err error) {
	if len(workflow) == 0 {
		return false, nil
	}
	before, err := q.RunWorkflowDigest(ctx, seq)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, trouble("read workflow", err)
	}
	now := digest(workflow)
	if err == nil && before == now {
		return false, nil
	}
	return true, trouble("record workflow", q.PutRunWorkflow(ctx, query.PutRunWorkflowParams{Run: seq, Digest: now, Data: pack(workflow)}))
}

func recordNodes(ctx context.Context, q *query.Queries, of query.Run, nodes []run.Node, tick func() (int64, error)) (changed bool, err error) {
	if len(nodes) == 0 { // not seen yet: what was known stays
		return false, nil
	}
	rows, err := q.NodeDigests(ctx, of.Seq)
	if err != nil {
		return false, trouble("read nodes", err)
	}
	before := make(map[string]int64, len(rows))
	for _, row := range rows {
		before[row.ID] = row.Digest
	}
	hits, err := q.CacheHits(ctx, of.Seq)
	if err != nil {
		return false, trouble("read the cache", err)
	}
	from := make(map[string]query.CacheHitsRow, len(hits))
	for _, hit := range hits {
		from[hit.NodeID] = hit
	}
	for _, n := range nodes {
		p := nodeParams(of.Seq, n, from[n.ID])
		known, ok := before[n.ID]
		delete(before, n.ID)
		if ok && known == p.Digest {
			continue
		}
		changed = true
		if p.Revision, err = tick(); err != nil {
			return false, err
		}
		if ok {
			if err := keepSizes(ctx, q, &p, n.Artifacts); err != nil {
				return false, err
			}
		}
		if err := q.PutNode(ctx, p); err != nil {
			return false, trouble("record node", err)
		}
	}
	for id := range before { // a retry takes nodes away
		changed = true
		revision, err := tick()
		if err != nil {
			return false, err
		}
		if _, err := q.DeleteNode(ctx, query.DeleteNodeParams{Run: of.Seq, ID: id}); err != nil {
			return false, trouble("remove node", err)
		}
		if err := q.InsertRemoval(ctx, query.InsertRemovalParams{Revision: revision, RunID: of.ID, NodeID: id}); err != nil {
			return false, trouble("note a removed node", err)
		}
	}
	return changed, nil
}

func nodeParams(seq int64, n run.Node, from query.CacheHitsRow) query.PutNodeParams {
	p := query.PutNodeParams{
		Run: seq, ID: n.ID, Name: n.Name, DisplayName: n.DisplayName, Type: n.Type, Template: n.Template, Phase: n.Phase,
		Message: n.Message, ExitCode: n.ExitCode, PodName: n.PodName, BoundaryID: n.BoundaryID,
		Children: toJSON(n.Children), Inputs: toJSON(n.Inputs), Outputs: toJSON(n.Outputs), Artifacts: toJSON(n.Artifacts),
		StartedAt: micros(n.StartedAt), FinishedAt: micros(n.FinishedAt), Scrape: toJSON(n.Scrape),
		FromRun: from.FromRun, FromNode: from.FromNode, Waiting: n.Waiting,
	}
	p.Digest = digest([]byte(toJSON(p)))
	return p
}

// Nodes implements run.Store.
func (s *nodes) Nodes(ctx context.Context, id string) ([]run.Node, error) {
	rows, err := s.read().Nodes(ctx, id)
	if err != nil {
		return nil, trouble("read nodes", err)
	}
	if len(rows) == 0 {
		_, err := s.read().RunRow(ctx, id)
		return nil, missing("run", id, err)
	}
	return nodesOf(rows)
}

// Node implements run.Store.
func (s *nodes) Node(ctx context.Context, id, nodeID string) (run.Node, error) {
	row, err := s.read().Node(ctx, query.NodeParams{ID: id, ID_2: nodeID})
	if err != nil {
		return run.Node{}, missing("step", nodeID, err)
	}
	return nodeOf(row)
}

func nodesOf(rows []query.Node) (nodes []run.Node, err error) {
	nodes = make([]run.Node, len(rows))
	for i, row := range rows {
		if nodes[i], err = nodeOf(row); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func nodeOf(row query.Node) (run.Node, error) {
	n := run.Node{
		ID: row.ID, Name: row.Name, DisplayName: row.DisplayName, Type: row.Type, Template: row.Template, Phase: row.Phase,
		Message: row.Message, ExitCode: row.ExitCode, PodName: row.PodName, BoundaryID: row.BoundaryID,
		StartedAt: timeOf(row.StartedAt), FinishedAt: timeOf(row.FinishedAt), LogKey: row.LogKey, Harvested: row.Harvested,
		LogRevision: row.LogRevision, Waiting: row.Waiting,
	}
	if row.FromRun != "" {
		n.CachedFrom = &run.Origin{RunID: row.FromRun, NodeID: row.FromNode}
	}
	return n, errors.Join(fromJSON(row.Children, &n.Children), fromJSON(row.Inputs, &n.Inputs),
		fromJSON(row.Outputs, &n.Outputs), fromJSON(row.Artifacts, &n.Artifacts), fromJSON(row.Scrape, &n.Scrape))
}

// SetHarvested implements run.Store.
func (s *nodes) SetHarvested(ctx context.Context, id, nodeID, logKey string, sizes map[string]int64) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		artifacts, err := artifactsOf(ctx, q, row.Seq, nodeID)
		if err != nil {
			return err
		}
		for i, a := range artifacts {
			if size, known := sizes[a.Key]; known {
				artifacts[i].Size = &size
			}
		}
		revision, err := bump(ctx, q, row)
		if err != nil {
			return err
		}
		_, err = q.SetNodeHarvested(ctx, query.SetNodeHarvestedParams{
			Run: row.Seq, ID: nodeID, LogKey: logKey, Artifacts: toJSON(artifacts), Revision: revision,
		})
		return trouble("mark a node as harvested", err)
	})
}

// artifactsOf reads what a node left.
func artifactsOf(ctx context.Context, q *query.Queries, seq int64, nodeID string) (artifacts []run.Artifact, err error) {
	stored, err := q.NodeArtifacts(ctx, query.NodeArtifactsParams{Run: seq, ID: nodeID})
	if err != nil {
		return nil, missing("step", nodeID, err)
	}
	return artifacts, fromJSON(stored, &artifacts)
}

// keepSizes takes over the sizes that artifacts of a node had when it was harvested; the Workflow does not tell them.
func keepSizes(ctx context.Context, q *query.Queries, p *query.PutNodeParams, artifacts []run.Artifact) error {
	if len(artifacts) == 0 {
		return nil
	}
	before, err := artifactsOf(ctx, q, p.Run, p.ID)
	if err != nil {
		return err
	}
	artifacts = slices.Clone(artifacts)
	for i, a := range artifacts {
		if j := slices.IndexFunc(before, func(b run.Artifact) bool { return b.Key == a.Key }); j >= 0 {
			artifacts[i].Size = before[j].Size
		}
	}
	p.Artifacts = toJSON(artifacts)
	return nil
}
