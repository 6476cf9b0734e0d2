package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// Record implements run.Store. It writes only what differs from what is there, so that seeing the same state again costs a read.
func (s *Store) Record(ctx context.Context, id string, state run.State) (changed bool, err error) {
	err = s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		changed = false
		if run.Final(row.Status) && !run.Final(state.Status) || state.Attempt < row.Attempt {
			return nil // an old view of the Workflow, or one that goes on after the run was given up
		}
		nodes, err := recordNodes(ctx, q, row.Seq, state.Nodes)
		if err != nil {
			return err
		}
		workflow, err := recordWorkflow(ctx, q, row.Seq, state.Workflow)
		if err != nil {
			return err
		}
		before := row
		if row.Status != run.Terminating || run.Final(state.Status) { // stopping is what the user sees until it has stopped
			row.Status, row.Message = state.Status, state.Message
		}
		row.StartedAt, row.FinishedAt = micros(state.StartedAt), micros(state.FinishedAt)
		if changed = nodes || workflow || row != before; !changed {
			return nil
		}
		err = q.SetRunState(ctx, query.SetRunStateParams{
			Seq: row.Seq, Status: row.Status, Message: row.Message, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
		})
		return trouble("record run", err)
	})
	return changed, err
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

func recordNodes(ctx context.Context, q *query.Queries, seq int64, nodes []run.Node) (changed bool, err error) {
	if len(nodes) == 0 { // not seen yet: what was known stays
		return false, nil
	}
	rows, err := q.NodeDigests(ctx, seq)
	if err != nil {
		return false, trouble("read nodes", err)
	}
	before := make(map[string]int64, len(rows))
	for _, row := range rows {
		before[row.ID] = row.Digest
	}
	for _, n := range nodes {
		p := nodeParams(seq, n)
		known, ok := before[n.ID]
		delete(before, n.ID)
		if ok && known == p.Digest {
			continue
		}
		changed = true
		if err := q.PutNode(ctx, p); err != nil {
			return false, trouble("record node", err)
		}
	}
	for id := range before { // a retry takes nodes away
		changed = true
		if err := q.DeleteNode(ctx, query.DeleteNodeParams{Run: seq, ID: id}); err != nil {
			return false, trouble("remove node", err)
		}
	}
	return changed, nil
}

func nodeParams(seq int64, n run.Node) query.PutNodeParams {
	p := query.PutNodeParams{
		Run: seq, ID: n.ID, Name: n.Name, DisplayName: n.DisplayName, Type: n.Type, Template: n.Template, Phase: n.Phase,
		Message: n.Message, ExitCode: n.ExitCode, PodName: n.PodName, BoundaryID: n.BoundaryID,
		Children: toJSON(n.Children), Inputs: toJSON(n.Inputs), Outputs: toJSON(n.Outputs), Artifacts: toJSON(n.Artifacts),
		StartedAt: micros(n.StartedAt), FinishedAt: micros(n.FinishedAt),
	}
	p.Digest = digest([]byte(toJSON(p)))
	return p
}

// Nodes implements run.Store.
func (s *Store) Nodes(ctx context.Context, id string) ([]run.Node, error) {
	rows, err := s.read().Nodes(ctx, id)
	if err != nil {
		return nil, trouble("read nodes", err)
	}
	if len(rows) == 0 {
		_, err := s.read().RunRow(ctx, id)
		return nil, missing("run", id, err)
	}
	nodes := make([]run.Node, len(rows))
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
	}
	return n, errors.Join(fromJSON(row.Children, &n.Children), fromJSON(row.Inputs, &n.Inputs),
		fromJSON(row.Outputs, &n.Outputs), fromJSON(row.Artifacts, &n.Artifacts))
}

// SetHarvested implements run.Store.
func (s *Store) SetHarvested(ctx context.Context, id, nodeID, logKey string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		n, err := q.SetNodeHarvested(ctx, query.SetNodeHarvestedParams{Run: row.Seq, ID: nodeID, LogKey: logKey})
		if err != nil || n == 0 {
			return orNotFound("step", nodeID, err)
		}
		return trouble("bump revision", q.BumpRevision(ctx, row.Seq))
	})
}
