package scrape

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// World is where the ranks of a job were placed.
type World struct {
	// Ranks is the number of MPI processes.
	Ranks int
	// Hosts are the distinct hosts they run on, in the order of the map.
	Hosts []string
	// PerHost is how many ranks each of Hosts has.
	PerHost []int
	// At is the host of each rank; nil when the map does not number them from zero.
	At []string
}

// MapFilter takes the job map out of a log on its way to the next writer.
// Open MPI prints the map (rmaps_base_display_map; of version 5, --display map) when it starts a job: it is
// its own list of ranks and their hosts. mpirun and its daemon on
// every host print the same map, one after the other or their lines mixed.
type MapFilter struct {
	next  io.Writer
	onMap func(World)
	keep  bool

	line []byte // a line that may be part of a map, held back until it ends
	free bool   // in a line that is not part of one
	open int    // maps that have begun and not ended

	job   string         // whose map it is
	ranks map[int]string // the host of each
	hosts []string
	procs []int // of each host
	told  World // what onMap was called with last for this job
}

// mapLine is longer than any line of a map.
const mapLine = 1024

var (
	mapStart   = regexp.MustCompile(`^Data for JOB (\[[^\]]+\]|prterun-\S+)`)
	mapNode    = regexp.MustCompile(`^Data for node: (\S+)\s.*Num procs: (\d+)`)
	mapProcess = regexp.MustCompile(`^Process (?:OMPI )?jobid: \S+ .*Process rank: (\d+)`)
	mapPolicy  = regexp.MustCompile(`^(?:Mapping policy|Cpu set): `)
	mapRule    = regexp.MustCompile(`^=+(\s+JOB MAP\s+=+)?$`)
)

// NewMapFilter returns a filter in front of next that calls onMap once for every
// job whose map is complete. With keep, the map itself passes too: for when the user asked
// mpirun to print it.
func NewMapFilter(next io.Writer, keep bool, onMap func(World)) *MapFilter {
	return &MapFilter{next: next, keep: keep, onMap: onMap}
}

// Write passes p on, less the job map. It fails as the next writer does.
func (f *MapFilter) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		if n := f.plain(p); n > 0 {
			if _, err := f.next.Write(p[:n]); err != nil {
				return 0, err
			}
			p = p[n:]
			continue
		}
		piece, ended := p, false
		if end := bytes.IndexByte(p, '\n'); end >= 0 {
			piece, ended = p[:end+1], true
		}
		p = p[len(piece):]
		if err := f.piece(piece, ended); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// plain is how much of p is whole lines in front of all that can begin a map, so that they pass together.
func (f *MapFilter) plain(p []byte) int {
	if f.open > 0 || f.free || len(f.line) > 0 {
		return 0
	}
	if at := bytes.Index(p, []byte("JOB")); at >= 0 { // every first line of a map has it
		p = p[:at]
	}
	return bytes.LastIndexByte(p, '\n') + 1
}

// Close passes on what was held back.
func (f *MapFilter) Close() error { return f.release() }

func (f *MapFilter) piece(piece []byte, ended bool) error {
	// Only a line that begins as a map's lines do waits for its end.
	if !f.free && len(f.line) == 0 && !f.mayBePart(piece) {
		f.free = true
	}
	if f.free {
		f.free = !ended
		_, err := f.next.Write(piece)
		return err
	}
	f.line = append(f.line, piece...)
	switch {
	case ended:
		if f.part(bytes.TrimSpace(f.line)) && !f.keep {
			f.line = f.line[:0]
			return nil
		}
	case len(f.line) <= mapLine && f.mayBePart(f.line):
		return nil // until the rest of the line is there
	default:
		f.free = true
	}
	return f.release()
}

// mayBePart tells whether b can begin a line of a map. Outside of a map only its
// first line counts.
func (f *MapFilter) mayBePart(b []byte) bool {
	begins := func(text string) bool {
		n := min(len(b), len(text))
		return string(b[:n]) == text[:n]
	}
	if f.open == 0 {
		return begins(" Data for JOB [") || begins("Data for JOB prterun-") || begins("========================   JOB MAP   =")
	}
	return len(b) == 0 || b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '=' || begins("Data for ")
}

// part tells whether a line belongs to a map, and follows it.
func (f *MapFilter) part(line []byte) bool {
	if m := mapStart.FindSubmatch(line); m != nil {
		f.begin(string(m[1]))
		return true
	}
	if f.open == 0 { // the title of Open MPI 5 comes before the job
		return bytes.Contains(line, []byte("   JOB MAP   "))
	}
	if m := mapNode.FindSubmatch(line); m != nil {
		if host := string(m[1]); !slices.Contains(f.hosts, host) {
			procs, _ := strconv.Atoi(string(m[2]))
			f.hosts, f.procs = append(f.hosts, host), append(f.procs, procs)
		}
		return true
	}
	if m := mapProcess.FindSubmatch(line); m != nil {
		// Maps that are mixed line by line each give a line for the first time in the map's order: so the rank is on the newest host.
		rank, _ := strconv.Atoi(string(m[1]))
		if _, seen := f.ranks[rank]; !seen && len(f.hosts) > 0 {
			f.ranks[rank] = f.hosts[len(f.hosts)-1]
		}
		return true
	}
	if m := mapRule.FindSubmatch(line); m != nil {
		if len(m[1]) == 0 {
			f.end()
		}
		return true
	}
	return len(line) == 0 || mapPolicy.Match(line)
}

func (f *MapFilter) begin(job string) {
	f.open++
	if f.job == job {
		return
	}
	f.open, f.job, f.hosts, f.procs, f.told = 1, job, nil, nil, World{}
	f.ranks = map[int]string{}
}

// end closes one map. By then all of its lines were seen, if not in one piece.
func (f *MapFilter) end() {
	f.open--
	w := World{Ranks: len(f.ranks), Hosts: slices.Clone(f.hosts), PerHost: slices.Clone(f.procs), At: f.placed()}
	if w.Ranks > 0 && (w.Ranks != f.told.Ranks || !slices.Equal(w.Hosts, f.told.Hosts)) {
		f.told = w
		f.onMap(w)
	}
}

// placed are the hosts of the ranks in order.
func (f *MapFilter) placed() []string {
	at := make([]string, len(f.ranks))
	for rank, host := range f.ranks {
		if rank >= len(at) {
			return nil
		}
		at[rank] = host
	}
	return at
}

func (f *MapFilter) release() error {
	if len(f.line) == 0 {
		return nil
	}
	_, err := f.next.Write(f.line)
	f.line = f.line[:0]
	return err
}
