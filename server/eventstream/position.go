package eventstream

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// position is how far a watcher has read. As text it is the id of an event:
//
//	[EPOCH_]REVISION[.SEQ[.POINT[.CLOSED[.KEY:LINES,...]]]]
//
// Callers hand it back as it is; the text of a position that knows revisions alone is the revision, in the first epoch.
type position struct {
	epoch         int64 // of the store
	revision, seq int64 // of runs; see run.Mark
	point         int64
	logs          logPosition
}

// logPosition says which lines of logs have been sent: all lines of the logs that were complete at revision closed, and for each
// log in open this many lines; -1 means all.
type logPosition struct {
	closed int64
	open   map[uint64]int64
}

// logKey tells the logs of a run's nodes apart. A node that runs again has another.
func logKey(n run.Node) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%d", n.ID, n.PodName, n.StartedAt.UnixMicro())
	return h.Sum64()
}

func (p position) mark() run.Mark { return run.Mark{Revision: p.revision, Seq: p.seq} }

func (p position) String() string {
	var logs []string
	for _, key := range slices.Sorted(maps.Keys(p.logs.open)) {
		logs = append(logs, strconv.FormatUint(key, 36)+":"+strconv.FormatInt(p.logs.open[key], 36))
	}
	text := fmt.Sprintf("%d.%d.%d.%d.%s", p.revision, p.seq, p.point, p.logs.closed, strings.Join(logs, ","))
	for {
		short, found := strings.CutSuffix(strings.TrimSuffix(text, "."), ".0")
		if !found {
			break
		}
		text = short
	}
	text = strings.TrimSuffix(text, ".")
	if p.epoch != 0 {
		text = strconv.FormatInt(p.epoch, 36) + "_" + text
	}
	return text
}

// maxID bounds what is read as an id.
const maxID = 16 << 10

func parsePosition(id string) (position, error) {
	if id == "" {
		return position{}, nil
	}
	refused := apierr.New(apierr.Invalid, "%.40q is not an id of an event; leave it out to start again", id)
	var p position
	epoch, rest, named := strings.Cut(id, "_")
	if !named {
		rest = id
	} else if n, err := strconv.ParseInt(epoch, 36, 64); err != nil || n <= 0 {
		return position{}, refused
	} else {
		p.epoch = n
	}
	parts := strings.Split(rest, ".")
	if len(id) > maxID || len(parts) > 5 {
		return position{}, refused
	}
	for i, field := range []*int64{&p.revision, &p.seq, &p.point, &p.logs.closed} {
		if i >= len(parts) {
			return p, nil
		}
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil || n < 0 {
			return position{}, refused
		}
		*field = n
	}
	if len(parts) < 5 {
		return p, nil
	}
	p.logs.open = map[uint64]int64{}
	for _, entry := range strings.Split(parts[4], ",") {
		name, count, _ := strings.Cut(entry, ":")
		key, errKey := strconv.ParseUint(name, 36, 64)
		lines, errLines := strconv.ParseInt(count, 36, 64)
		if errKey != nil || errLines != nil || lines < -1 {
			return position{}, refused
		}
		p.logs.open[key] = lines
	}
	return p, nil
}
