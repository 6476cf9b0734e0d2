package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/logs"
)

// Logs that are read as one.
const mostMerged = 1024

// logs reads the names of the logs to merge.
func (p *parameters) logs(of logs.Query) []logs.Query {
	names := p.values["log"]
	if len(names) > mostMerged {
		p.refuse("log", fmt.Sprintf("%d logs", len(names)), "at most 1024 logs; without it all logs of the step, or of the run, are meant")
		return nil
	}
	queries := make([]logs.Query, len(names))
	for i, name := range names {
		part := strings.Split(name, "/")
		attempt, err := strconv.ParseInt(part[0], 10, 64)
		if err != nil || attempt < 1 || len(part) < 3 || len(part) > 4 || part[1] == "" || part[2] == "" || slices.Contains(names[:i], name) {
			p.refuse("log", name, "ATTEMPT/POD/CONTAINER, as in 1/train-worker-0/main, or with /RESTART behind it, each once")
			return nil
		}
		queries[i] = logs.Query{RunID: of.RunID, NodeID: of.NodeID, Attempt: attempt, Pod: part[1], Container: part[2]}
		if len(part) < 4 {
			continue
		}
		restart, err := strconv.ParseInt(part[3], 10, 64)
		if err != nil || restart < 0 {
			p.refuse("log", name, "with a number from 0 behind the container")
			return nil
		}
		queries[i].Restart = &restart
	}
	return queries
}

// searchMerged tells which lines are wanted in several logs, in the order of the lines' times.
func (g *gateway) searchMerged(ctx context.Context, w http.ResponseWriter, r *http.Request, q logs.Query, queries []logs.Query, what logs.Wanted, skip, most int64) {
	found, read, err := g.Runs.Logs.FindIn(ctx, q, queries, what, skip, most)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	type place struct {
		Log  int   `json:"log"`
		Line int64 `json:"line"`
	}
	answer := struct {
		Total    int64     `json:"total"`
		Places   []place   `json:"places"`
		Searched int64     `json:"searched"`
		Logs     []logView `json:"logs,omitempty"`
	}{Total: found.Total, Places: make([]place, len(found.Places)), Searched: found.Searched}
	for i, p := range found.Places {
		answer.Places[i] = place(p)
	}
	if len(queries) == 0 { // else the caller knows
		steps := g.stepsOf(q)
		for _, l := range read {
			view := viewOf(l)
			view.Step = steps.name(ctx, l)
			answer.Logs = append(answer.Logs, view)
		}
	}
	g.answer(w, r, answer)
}

// steps names the steps of logs, where logs of all steps of a run are meant.
type steps struct {
	g     *gateway
	names map[string]string // by node; nil: not wanted
}

func (g *gateway) stepsOf(q logs.Query) steps {
	s := steps{g: g}
	if q.NodeID == "" {
		s.names = map[string]string{}
	}
	return s
}

func (s steps) name(ctx context.Context, l logs.Log) string {
	if s.names == nil {
		return ""
	}
	name, known := s.names[l.NodeID]
	if !known {
		name = s.g.Runs.Logs.StepName(ctx, l)
		s.names[l.NodeID] = name
	}
	return name
}

// mergeLogs gives several logs of a step, or of a run, as one, in the order of the lines' times.
func (g *gateway) mergeLogs(w http.ResponseWriter, r *http.Request) {
	p := parameters{values: r.URL.Query()}
	q := logs.Query{RunID: r.PathValue("run"), NodeID: r.PathValue("node"), Attempt: p.number("attempt"), Ranks: p.truth("ranks"), Follow: p.truth("follow")}
	queries := p.logs(q)
	body := &mergedBody{steps: g.stepsOf(q)}
	kind := "text/plain; charset=utf-8"
	body.times = p.truth("timestamps")
	switch format := p.take("format"); format {
	case "", "text":
	case "json":
		body.json, kind = true, "application/x-ndjson"
	default:
		p.refuse("format", format, "text or json")
	}
	if p.err != nil {
		g.refuse(r.Context(), nil, nil, w, r, p.err)
		return
	}
	ctx, cancel := g.streamContext(r)
	defer cancel()
	merged, err := g.Runs.Logs.Merge(ctx, q, queries)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	defer merged.Close()
	body.ctx, body.merged = ctx, merged
	g.stream(ctx, w, r, body, kind)
}

// mergedBody is a merge as bytes.
type mergedBody struct {
	ctx         context.Context //nolint:containedctx // io.Reader passes none
	merged      *logs.Merged
	json, times bool
	steps       steps
	names       []string // of the logs that have joined
	ready       []byte
}

func (b *mergedBody) Read(p []byte) (int, error) {
	for len(b.ready) == 0 {
		b.ready = b.ready[:0]
		b.join()
		if len(b.ready) > 0 {
			break
		}
		lines, err := b.merged.Next(b.ctx)
		if err != nil {
			return 0, err
		}
		b.join() // before its first line
		for _, l := range lines {
			b.append(l)
		}
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// join says which logs have joined.
func (b *mergedBody) join() {
	for _, l := range b.merged.Logs(len(b.names)) {
		view := viewOf(l)
		view.Step = b.steps.name(b.ctx, l)
		b.names = append(b.names, nameOf(view))
		if b.json {
			b.object(struct {
				Log logView `json:"log"`
			}{view})
		}
	}
}

// nameOf is what stands in front of a log's lines: the role and rank or the container, and of a run's the step before it.
func nameOf(l logView) string {
	name := l.Container
	if l.Role != "" {
		name = fmt.Sprintf("%s %d", l.Role, l.Rank)
	}
	switch {
	case l.Step == "":
		return name
	case name == logs.Main:
		return l.Step
	}
	return l.Step + " " + name
}

// mergedLine is a line as the API shows it.
type mergedLine struct {
	Of int `json:"of"`
	logLine
}

func (b *mergedBody) append(l logs.MergedLine) {
	if b.json {
		b.object(mergedLine{l.Log, lineOf(l.Line)})
		return
	}
	if b.times {
		b.ready = append(l.At.UTC().AppendFormat(b.ready, time.RFC3339Nano), ' ')
	}
	b.ready = fmt.Appendf(b.ready, "[%s] ", b.names[l.Log])
	b.ready = append(append(b.ready, l.Text...), '\n')
}

func (b *mergedBody) object(o any) {
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("gateway: a line does not marshal: %v", err)) // it is of numbers and text
	}
	b.ready = append(append(b.ready, text...), '\n')
}
