package job

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// proofGrace is how long a job may go on with fewer ranks than it was asked for: a command may start a small program first.
const proofGrace = 20 * time.Second

// proof compares the ranks that took part, as the programs tell that start them, with those asked for.
type proof struct {
	spec *Spec

	mu    sync.Mutex
	full  bool      // all took part once
	since time.Time // when fewer did first; zero when none did
	fewer string
}

// ran notes a world. The largest counts: commands may start programs one after the other.
func (p *proof) ran(w scrape.World, now time.Time) {
	want := p.spec.World()
	fault := ""
	switch at := slices.IndexFunc(w.Hosts, onLauncher); {
	case w.Ranks < want:
		fault = fmt.Sprintf("mpirun started %d of %d ranks (%s)", w.Ranks, want, p.spec.size())
	case at >= 0:
		fault = fmt.Sprintf("ranks run in the job's launcher %s instead of on its workers: mpirun does not read the list of workers", w.Hosts[at])
	case len(w.Hosts) < p.spec.Pods():
		fault = fmt.Sprintf("the ranks run on %d of %d workers", len(w.Hosts), p.spec.Pods())
	}
	p.note(fault, now)
}

// launcherHost is the name of an MPIJob's launcher pod, which is its host name too.
var launcherHost = regexp.MustCompile(`^[a-z0-9-]+-launcher-[a-z0-9]{5}(?:\.|$)`)

func onLauncher(host string) bool { return launcherHost.MatchString(host) }

// met notes the size of a world that a framework tells.
func (p *proof) met(framework string, ranks, want int, now time.Time) {
	fault := ""
	if ranks < want {
		fault = fmt.Sprintf("%s has %d of %d processes (%s)", framework, ranks, want, p.spec.size())
	}
	p.note(fault, now)
}

func (p *proof) note(fault string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case fault == "":
		p.full = true
	case p.since.IsZero():
		p.since, p.fewer = now, fault
	default:
		p.fewer = fault
	}
}

// again forgets what another attempt did.
func (p *proof) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.full, p.since, p.fewer = false, time.Time{}, ""
}

// fault is why the job does not count: for some time, or at its end, fewer ranks than were asked for. It is empty when all took part,
// when none is known to have, and when the step allows fewer.
func (p *proof) fault(now time.Time, ended bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full || p.since.IsZero() || p.spec.AllowFewerRanks || !ended && now.Sub(p.since) < proofGrace {
		return ""
	}
	return p.fewer + ": check -np, -host and --map-by in the command, or allow fewer ranks (--allow-fewer-ranks)"
}

// Worlds that frameworks tell of.
var met = []struct {
	framework string
	mark      []byte // each line that tells has it
	pattern   *regexp.Regexp
	pods      bool // it counts pods, not ranks
}{
	{"torchrun", []byte("global_world_sizes=["), regexp.MustCompile(`global_world_sizes=\[(\d+)`), false},
	{"TensorFlow", []byte("num_workers = "), regexp.MustCompile(`MultiWorkerMirroredStrategy with cluster_spec = .*num_workers = (\d+)`), true},
}

// intelRank is a line of the table that Intel MPI prints with I_MPI_DEBUG=4 or more.
var intelRank = regexp.MustCompile(`MPI startup\(\): (\d+)\s+\d+\s+(\S+)\s`)

var intelTells = []byte("MPI startup(): ")

// listens gives a writer for what a pod prints.
func (p *proof) listens() io.WriteCloser {
	var w scrape.World
	return scrape.Lines(func(_ int, line []byte) {
		if bytes.Contains(line, intelTells) {
			p.intel(&w, line)
			return
		}
		for _, m := range met {
			if !bytes.Contains(line, m.mark) {
				continue
			}
			if g := m.pattern.FindSubmatch(line); g != nil {
				ranks, _ := strconv.Atoi(string(g[1]))
				want := p.spec.World()
				if m.pods {
					want = p.spec.trainers()
				}
				p.met(m.framework, ranks, want, time.Now())
			}
		}
	})
}

// intel collects the table of Intel MPI's ranks. The line after it is another of the library's.
func (p *proof) intel(w *scrape.World, line []byte) {
	if strings.Contains(string(line), "Rank    Pid") {
		*w = scrape.World{}
		return
	}
	g := intelRank.FindSubmatch(line)
	if g == nil || string(g[1]) != strconv.Itoa(w.Ranks) {
		return
	}
	w.Ranks++
	host := string(g[2])
	w.At = append(w.At, host)
	if !slices.Contains(w.Hosts, host) {
		w.Hosts = append(w.Hosts, host)
	}
	p.ran(*w, time.Now())
}
