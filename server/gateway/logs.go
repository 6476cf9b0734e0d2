package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
)

// firstLine is the header that has the number of the first line of a log's text.
const firstLine = "Argosy-First-Line"

// log gives the log of a node's main container as far as it goes, as KFP v1 does.
func (g *gateway) log(w http.ResponseWriter, r *http.Request) {
	g.copyLog(w, r, logs.Query{RunID: r.PathValue("run"), NodeID: r.PathValue("node")}, false)
}

// ownLog gives any log of a node, or some lines of it, as text or as JSON.
func (g *gateway) ownLog(w http.ResponseWriter, r *http.Request) {
	q, o, err := logQuery(r)
	switch {
	case err != nil:
		g.refuse(r.Context(), nil, nil, w, r, err)
	case o.lines:
		g.logLines(w, r, q)
	default:
		g.copyLog(w, r, q, o.times)
	}
}

// logForm is how a log is wanted.
type logForm struct{ times, lines bool }

// logQuery reads the parameters of a request for a log.
func logQuery(r *http.Request) (q logs.Query, o logForm, err error) {
	p := parameters{values: r.URL.Query()}
	q = logs.Query{
		RunID: r.PathValue("run"), NodeID: r.PathValue("node"), Pod: p.take("pod"), Container: p.take("container"),
		Attempt: p.number("attempt"), Previous: p.truth("previous"), From: p.number("from"), Around: p.number("around"),
		Lines: p.number("lines"), Since: p.time("since"), Follow: p.truth("follow"),
	}
	if p.values.Has("tail") {
		tail := p.number("tail")
		q.Tail = &tail
	}
	o.times = p.truth("timestamps")
	switch format := p.take("format"); format {
	case "", "text":
	case "json":
		o.lines = true
		if q.Follow {
			p.refuse("format", format, "text with follow; lines as they come are among the run's events")
		}
	default:
		p.refuse("format", format, "text or json")
	}
	return q, o, p.err
}

// parameters reads those of a URL, and keeps what was wrong first.
type parameters struct {
	values url.Values
	err    error
}

func (p *parameters) refuse(name, value, can string) {
	if p.err == nil {
		p.err = apierr.New(apierr.Invalid, "%s is %q; it can be %s", name, value, can)
	}
}

func (p *parameters) take(name string) string { return p.values.Get(name) }

func (p *parameters) number(name string) int64 {
	text := p.take(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		p.refuse(name, text, "a number from 0")
	}
	return n
}

func (p *parameters) truth(name string) bool {
	text := p.take(name)
	if text == "" {
		return false
	}
	is, err := strconv.ParseBool(text)
	if err != nil {
		p.refuse(name, text, "true or false")
	}
	return is
}

// time reads a moment, or how long ago it was.
func (p *parameters) time(name string) time.Time {
	text := p.take(name)
	if text == "" {
		return time.Time{}
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-ago)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		p.refuse(name, text, "a time such as 2026-11-21T12:00:00Z, or how long ago: 10m")
	}
	return at
}

func (g *gateway) copyLog(w http.ResponseWriter, r *http.Request, q logs.Query, times bool) {
	ctx, cancel := g.streamContext(r)
	defer cancel()
	log, err := g.Runs.Logs.Text(ctx, q, times)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	defer log.Close()
	w.Header().Set(firstLine, strconv.FormatInt(log.First, 10))
	g.stream(ctx, w, r, log, "text/plain; charset=utf-8")
}

// stream answers with all that body gives. When body fails, it breaks the connection off.
func (g *gateway) stream(ctx context.Context, w http.ResponseWriter, r *http.Request, body io.Reader, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	defer http.NewResponseController(w).SetWriteDeadline(time.Time{}) //nolint:errcheck // the next request on the connection starts afresh
	if err := flow(w, body); err != nil {
		if ctx.Err() == nil {
			g.Log.WarnContext(ctx, "answer broke off", "path", r.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler) // so that the client does not take what it has for the whole
	}
}

// Lines of one answer in JSON, unless it asks for fewer.
const mostLines = 10_000

// logLine is one line as the API shows it. Bytes that are not UTF-8 are replaced.
type logLine struct {
	N    int64     `json:"n"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

func lineOf(l logs.Line) logLine {
	return logLine{l.Number, l.At, strings.ToValidUTF8(string(l.Text), "\uFFFD")}
}

// logLines answers with lines and their numbers.
func (g *gateway) logLines(w http.ResponseWriter, r *http.Request, q logs.Query) {
	if q.Lines == 0 || q.Lines > mostLines {
		q.Lines = mostLines
	}
	d, err := g.Runs.Logs.Open(r.Context(), q)
	if err != nil {
		g.refuse(r.Context(), nil, nil, w, r, err)
		return
	}
	defer d.Close()
	answer := struct {
		Log   logView   `json:"log"`
		Lines []logLine `json:"lines"`
	}{viewOf(d.Log()), []logLine{}}
	for {
		lines, err := d.Next(r.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			g.refuse(r.Context(), nil, nil, w, r, err)
			return
		}
		for _, l := range lines {
			answer.Lines = append(answer.Lines, lineOf(l))
		}
		if lines[len(lines)-1].Partial { // whatever comes of it
			break
		}
	}
	g.answer(w, r, answer)
}

// Bounds of a search: of the text, and of the numbers in one answer.
const (
	longestSought = 1000
	mostFound     = 1000
)

// searchLog tells where a text is in a log, or what tells of an error, and how often.
func (g *gateway) searchLog(w http.ResponseWriter, r *http.Request) {
	p := parameters{values: r.URL.Query()}
	q := logs.Query{
		RunID: r.PathValue("run"), NodeID: r.PathValue("node"), Pod: p.take("pod"), Container: p.take("container"),
		Attempt: p.number("attempt"), Previous: p.truth("previous"),
	}
	what, skip, most := logs.Wanted{Text: p.take("q"), Errors: p.truth("errors")}, p.number("skip"), p.number("most")
	if !what.Errors && what.Text == "" || len(what.Text) > longestSought {
		p.refuse("q", what.Text, "a text of 1 to 1000 bytes")
	}
	q.Ranks = p.truth("ranks")
	all := p.truth("all") || q.Ranks || q.NodeID == ""
	merged := p.logs(q)
	if most == 0 || most > mostFound {
		most = mostFound
	}
	if p.err != nil {
		g.refuse(r.Context(), nil, nil, w, r, p.err)
		return
	}
	ctx, cancel := g.streamContext(r) // the end of the server ends it too
	defer cancel()
	if all || len(merged) > 0 {
		g.searchMerged(ctx, w, r, q, merged, what, skip, most)
		return
	}
	found, err := g.Runs.Logs.Find(ctx, q, what, skip, most)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	g.answer(w, r, struct {
		Total    int64   `json:"total"`
		Lines    []int64 `json:"lines"`
		Searched int64   `json:"searched"`
	}(found))
}

// logView is a log as the API shows it.
type logView struct {
	NodeID    string    `json:"node_id"`
	Step      string    `json:"step,omitempty"` // its name, where logs of all steps are meant
	Attempt   int64     `json:"attempt"`        // from 1
	Pod       string    `json:"pod"`
	Container string    `json:"container"`
	Restart   int64     `json:"restart"`
	Role      string    `json:"role,omitempty"`
	Rank      int64     `json:"rank"`
	StartedAt time.Time `json:"started_at"`
	LastAt    time.Time `json:"last_at"`
	Lines     int64     `json:"lines"`
	Bytes     int64     `json:"bytes"`
	State     string    `json:"state"`
	Message   string    `json:"message,omitempty"`
}

func viewOf(l logs.Log) logView {
	return logView{
		l.NodeID, "", l.Attempt + 1, l.Pod, l.Container, l.Restart, l.Role, l.Rank, l.StartedAt, l.LastAt, l.Lines, l.Bytes, l.State, l.Message,
	}
}

// listLogs tells which logs there are of a run, or of one of its nodes.
func (g *gateway) listLogs(w http.ResponseWriter, r *http.Request) {
	list, err := g.Runs.Logs.List(r.Context(), r.PathValue("run"), r.PathValue("node"))
	if err != nil {
		g.refuse(r.Context(), nil, nil, w, r, err)
		return
	}
	answer := struct {
		Logs []logView `json:"logs"`
	}{[]logView{}}
	for _, l := range list {
		answer.Logs = append(answer.Logs, viewOf(l))
	}
	g.answer(w, r, answer)
}

func (g *gateway) answer(w http.ResponseWriter, r *http.Request, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(answer); err != nil && r.Context().Err() == nil {
		g.Log.WarnContext(r.Context(), "answer not sent", "path", r.URL.Path, "error", err)
	}
}
