// Package stacks asks the programs of a job that hangs where they are, and finds the one that the others wait for.
//
// Programs in Python answer to a signal (faulthandler), which Prepare arranges before they start. Others are looked at with py-spy or gdb where
// the image has them.
package stacks

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	//go:embed prepare.sh
	prepare string
	//go:embed sitecustomize.py
	sitecustomize string
	//go:embed dump.sh
	dump string
)

// Prepare is a script for sh after which programs in Python answer.
func Prepare() string {
	return strings.Replace(prepare, "SITECUSTOMIZE\n", sitecustomize, 1)
}

// Command prints the stacks of the programs in a container, for Read.
func Command() []string { return []string{"sh", "-c", dump} }

// Unranked is the rank of a program that tells none.
const Unranked = -1

// Stack is what a program answered.
type Stack struct {
	Rank, PID    int
	How, Program string
	// Lines are the whole answer, of all threads.
	Lines []string
	// Frames are those of the main thread, the innermost first; none if it did not answer.
	Frames []Frame
}

// Frame is a call that has not returned.
type Frame struct {
	Function, File string
	Line           int
	Source         string // the line's text
}

var (
	header  = regexp.MustCompile(`^=== rank=(\d*) pid=(\d+) how=(\S+) (.*)$`)
	fault   = regexp.MustCompile(`^  File "(.+)", line (\d+) in (.+)$`)
	pySpy   = regexp.MustCompile(`^    (\S+) \((.+):(\d+)\)$`)
	gdb     = regexp.MustCompile(`^#\d+\s+(?:0x[0-9a-f]+ in )?(\S+) \(.*\)(?: (?:from|at) (\S+?)(?::(\d+))?)?$`)
	library = regexp.MustCompile(`/(?:site|dist)-packages/|/lib/python\d|^<frozen |\.so(?:\.\d+)*$|^(?:\.\./|\./)?(?:csu|elf|io|misc|nptl|socket|stdlib|sysdeps)/` +
		`|^(?:asyncio|deepspeed|horovod|jax|mpi4py|multiprocessing|numpy|paddle|tensorflow|torch)/|^(?:queue|selectors|socket|subprocess|threading)\.py$`) // py-spy shortens paths
	runtime = regexp.MustCompile(`^P?MPI_|^nccl`)
	waiting = regexp.MustCompile(`(?i)all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|barrier|bcast|broadcast|\bgather|\bscatter|recv|\bwait|synchronize`)
)

// Read reads what Command printed in one container.
func Read(text string) (all []Stack) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if g := header.FindStringSubmatch(line); g != nil {
			s := Stack{Rank: Unranked, How: g[3], Program: strings.TrimSpace(g[4])}
			s.PID, _ = strconv.Atoi(g[2])
			if rank, err := strconv.Atoi(g[1]); err == nil {
				s.Rank = rank
			}
			all = append(all, s)
		} else if len(all) > 0 {
			all[len(all)-1].Lines = append(all[len(all)-1].Lines, line)
		}
	}
	for i := range all {
		all[i].Frames = all[i].frames()
	}
	return all
}

// frames are those of the main thread.
func (s *Stack) frames() (frames []Frame) {
	pattern := map[string]*regexp.Regexp{"faulthandler": fault, "py-spy": pySpy, "gdb": gdb}[s.How]
	if pattern == nil {
		return nil
	}
	for _, line := range s.main() {
		g := pattern.FindStringSubmatch(line)
		switch {
		case g != nil && s.How == "faulthandler":
			frames = append(frames, frame(g[3], g[1], g[2]))
		case g != nil:
			frames = append(frames, frame(g[1], g[2], g[3]))
		case s.How == "faulthandler" && len(frames) > 0:
			frames[len(frames)-1].Source = strings.TrimSpace(line)
		}
	}
	return frames
}

// main are the lines of the main thread: faulthandler calls it current, since it took the signal, py-spy names it, and gdb numbers it 1.
func (s *Stack) main() []string {
	begins := slices.IndexFunc(s.Lines, func(line string) bool {
		switch s.How {
		case "faulthandler":
			return strings.HasPrefix(line, "Current thread ")
		case "py-spy":
			return strings.HasPrefix(line, "Thread ") && strings.HasSuffix(line, `"MainThread"`)
		}
		return strings.HasPrefix(line, "Thread 1 ")
	})
	if begins < 0 {
		return s.Lines
	}
	own := s.Lines[begins+1:]
	if ends := slices.IndexFunc(own, func(line string) bool { return strings.HasPrefix(line, "Thread ") }); ends >= 0 {
		own = own[:ends]
	}
	return own
}

func frame(function, file, line string) Frame {
	number, _ := strconv.Atoi(line) // 0 where it has none
	return Frame{Function: function, File: file, Line: number}
}

// Where is the innermost call of the program itself, as in "stuck (train.py:14: time.sleep(1))".
func (s *Stack) Where() string {
	at := slices.IndexFunc(s.Frames, func(f Frame) bool { return f.File != "" && !library.MatchString(f.File) })
	switch {
	case len(s.Frames) == 0:
		return ""
	case at < 0:
		at = max(0, slices.IndexFunc(s.Frames, func(f Frame) bool { return runtime.MatchString(f.Function) }))
	}
	f := s.Frames[at]
	place := path.Base(f.File)
	if f.File == "" {
		return f.Function
	}
	if f.Line > 0 {
		place += ":" + strconv.Itoa(f.Line)
	}
	if f.Source != "" {
		place += ": " + clip(f.Source)
	}
	return fmt.Sprintf("%s (%s)", f.Function, place)
}

func clip(text string) string {
	const most = 120
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// waits tells whether the program is in a call that waits for others.
func (s *Stack) waits() bool {
	return slices.ContainsFunc(s.Frames, func(f Frame) bool { return waiting.MatchString(f.Function) || waiting.MatchString(f.Source) })
}

// Group is the programs that are at one place, and that all wait there for others or all do not.
type Group struct {
	Where  string
	Waits  bool
	Stacks []Stack
}

// Groups sorts stacks by their place. The first group is the one that the others wait for, as far as is known: it does not wait for others
// itself, it is the smallest, or it comes first among the stacks.
func Groups(all []Stack) (groups []Group) {
	for _, s := range all {
		where, waits := s.Where(), s.waits()
		if where == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Where == where && g.Waits == waits })
		if i < 0 {
			i, groups = len(groups), append(groups, Group{Where: where, Waits: waits})
		}
		groups[i].Stacks = append(groups[i].Stacks, s)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		if a.Waits != b.Waits {
			if b.Waits {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(a.Stacks), len(b.Stacks))
	})
	return groups
}
