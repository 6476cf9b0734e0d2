package scrape

import (
	"bytes"
	"io"
	"regexp"
	"slices"
)

// World is where the ranks of a job were placed.
type World struct {
	// Ranks is the number of MPI processes.
	Ranks int
	// Hosts are the distinct hosts they run on, in the order of the map.
	Hosts []string
}

// MapFilter takes the job map out of a log on its way to the next writer.
// OpenMPI prints the map (rmaps_base_display_map) when it starts a job: it is
// its own account of which rank runs on which host.
type MapFilter struct {
	next  io.Writer
	onMap func(World)
	keep  bool

	line  []byte // a line that may be part of a map, held back until it ends
	free  bool   // in a line that is not part of one
	open  bool   // inside a map
	world World
}

// mapLine is longer than any line of a map.
const mapLine = 1024

var (
	mapStart   = regexp.MustCompile(`^Data for JOB \[`)
	mapNode    = regexp.MustCompile(`^Data for node: (\S+)\s.*Num procs: \d+`)
	mapProcess = regexp.MustCompile(`^Process (?:OMPI|PRTE) jobid: \[?[^\]\s]+\]? .*Process rank: \d+`)
	mapRule    = regexp.MustCompile(`^=+(?:\s+JOB MAP\s+=+)?$`)
)

// NewMapFilter returns a filter in front of next that calls onMap for every
// complete map. With keep, the map itself passes too: for when the user asked
// mpirun to print it.
func NewMapFilter(next io.Writer, keep bool, onMap func(World)) *MapFilter {
	return &MapFilter{next: next, keep: keep, onMap: onMap}
}

// Write passes p on, less the job map. It fails as the next writer does.
func (f *MapFilter) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
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

// Close passes on what was held back.
func (f *MapFilter) Close() error { return f.release() }

func (f *MapFilter) piece(piece []byte, ended bool) error {
	// Only a line that begins as a map's lines do waits for its end.
	if !f.free && len(f.line) == 0 && !f.open && !startsMap(piece) {
		f.free = true
	}
	if f.free {
		f.free = !ended
		_, err := f.next.Write(piece)
		return err
	}
	f.line = append(f.line, piece...)
	if !ended {
		if len(f.line) > mapLine || !f.open && !startsMap(f.line) {
			f.open, f.free = false, true
			return f.release()
		}
		return nil
	}
	if f.part(bytes.TrimSpace(f.line)) && !f.keep {
		f.line = f.line[:0]
		return nil
	}
	return f.release()
}

// startsMap tells whether b may be the beginning of a map's first line.
func startsMap(b []byte) bool {
	const first = " Data for JOB ["
	n := min(len(b), len(first))
	return string(b[:n]) == first[:n]
}

// part tells whether a line belongs to a map, and follows it.
func (f *MapFilter) part(line []byte) bool {
	switch {
	case !f.open:
		f.open = mapStart.Match(line)
		f.world = World{}
		return f.open
	case len(line) == 0:
	case mapProcess.Match(line):
		f.world.Ranks++
	case mapRule.Match(line):
		if f.world.Ranks > 0 {
			f.open = false
			f.onMap(f.world)
		}
	default:
		m := mapNode.FindSubmatch(line)
		if m == nil {
			f.open = false // something else came between: let it pass
			return false
		}
		if host := string(m[1]); !slices.Contains(f.world.Hosts, host) {
			f.world.Hosts = append(f.world.Hosts, host)
		}
	}
	return true
}

func (f *MapFilter) release() error {
	if len(f.line) == 0 {
		return nil
	}
	_, err := f.next.Write(f.line)
	f.line = f.line[:0]
	return err
}
