package firstfault

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Bounds of what is kept of a job's output.
const (
	rankLines = 120  // of a rank
	podLines  = 2000 // of what no rank claims: the reports are there, and all ranks where they have no tags
	lineWidth = 400  // bytes of a line
	maxRanks  = 2048
	fewLines  = 20 // of ranks beyond
)

// Log keeps the last lines of each rank. It is safe for concurrent use.
type Log struct {
	mu       sync.Mutex
	speakers map[speaker]*lines
	next     int
	heard    time.Time
	hosts    []string
}

// speaker is who printed a line: a pod, and a rank in it where the line has a tag.
type speaker struct {
	pod  string
	rank int
}

type line struct {
	order int
	at    time.Time // zero when not known
	text  string
}

type lines struct {
	most  int
	kept  []line
	first int // in kept, which is a ring once it is full
}

func (l *lines) add(x line) {
	if len(l.kept) < l.most {
		l.kept = append(l.kept, x)
		return
	}
	l.kept[l.first] = x
	l.first = (l.first + 1) % l.most
}

func (l *lines) all() []line { return slices.Concat(l.kept[l.first:], l.kept[:l.first]) }

// New makes an empty log.
func New() *Log { return &Log{speakers: map[speaker]*lines{}} }

// Placed notes the hosts of the ranks, as the program that started them tells.
func (l *Log) Placed(hosts []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts = slices.Clone(hosts)
}

// Stream takes what a pod prints.
type Stream struct {
	log *Log
	pod string
	to  io.WriteCloser
	at  time.Time
}

// Pod gives a stream for what the pod of that name prints.
func (l *Log) Pod(name string) *Stream {
	s := &Stream{log: l, pod: name}
	s.to = scrape.Lines(s.line)
	return s
}

// At says when what is written next was printed.
func (s *Stream) At(at time.Time) {
	s.at = at
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if at.After(s.log.heard) {
		s.log.heard = at
	}
}

// Heard returns the time of the last output; zero without output, or if the streams carry no times.
func (l *Log) Heard() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard
}

// Write takes output. It never fails.
func (s *Stream) Write(p []byte) (int, error) { return s.to.Write(p) }

// Close takes what was left without a line end.
func (s *Stream) Close() error { return s.to.Close() }

func (s *Stream) line(rank int, text []byte) {
	text = bytes.TrimRight(text, " \t\r")
	if len(text) == 0 {
		return
	}
	if len(text) > lineWidth {
		text = append(text[:lineWidth-3:lineWidth-3], "..."...)
	}
	s.log.add(speaker{s.pod, rank}, line{at: s.at, text: strings.ToValidUTF8(string(text), "?")})
}

func (l *Log) add(who speaker, x line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.speakers[who]
	if own == nil {
		own = &lines{most: rankLines}
		switch {
		case who.rank == Unranked:
			own.most = podLines
		case len(l.speakers) >= maxRanks:
			own.most = fewLines
		}
		l.speakers[who] = own
	}
	x.order = l.next
	l.next++
	own.add(x)
}

// Silence is since when a rank has printed nothing.
type Silence struct {
	Rank  int
	Since time.Time
}

// Silences returns for each rank when it last printed, in order of ranks. The streams must carry times.
func (l *Log) Silences(pods []Pod) []Silence {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := map[int]time.Time{}
	for who, own := range l.speakers {
		rank := rankIn(pods, who)
		if all := own.all(); rank != Unranked && all[len(all)-1].at.After(last[rank]) {
			last[rank] = all[len(all)-1].at
		}
	}
	silences := make([]Silence, 0, len(last))
	for rank, since := range last {
		silences = append(silences, Silence{rank, since})
	}
	slices.SortFunc(silences, func(a, b Silence) int { return cmp.Compare(a.Rank, b.Rank) })
	return silences
}

// rankIn is the rank of a speaker in the whole job. Programs that start several ranks in one pod may number them within it.
func rankIn(pods []Pod, who speaker) int {
	i := slices.IndexFunc(pods, func(p Pod) bool { return p.Name == who.pod })
	if i < 0 || pods[i].First == Unranked {
		return who.rank
	}
	p := pods[i]
	switch {
	case p.First == p.Last:
		return p.First
	case who.rank == Unranked || p.First <= who.rank && who.rank <= p.Last:
		return who.rank
	case p.First+who.rank <= p.Last:
		return p.First + who.rank
	}
	return who.rank
}
