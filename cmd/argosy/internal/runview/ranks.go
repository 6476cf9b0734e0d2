package runview

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Ranks prints the log of a distributed job line by line, each with the rank that printed it.
type Ranks struct {
	Out   io.Writer
	Color bool
	Only  RankSet        // whose lines are printed; empty: everyone's, and those of no rank
	Grep  *regexp.Regexp // which lines are printed; nil: all
}

// Writer takes the log. Its Close prints a last line that has no end.
func (r *Ranks) Writer() io.WriteCloser { return scrape.Lines(r.line) }

// rankColors are those of the ranks in turn; red is for errors.
var rankColors = []int{36, 33, 32, 35, 34, 96, 93, 92, 95, 94}

func (r *Ranks) line(rank int, line []byte) {
	if len(r.Only) > 0 && !r.Only.has(rank) || r.Grep != nil && !r.Grep.Match(line) {
		return
	}
	who := "     "
	switch {
	case rank != scrape.Unranked && r.Color:
		who = fmt.Sprintf("\x1b[%dm%4d\x1b[0m ", rankColors[rank%len(rankColors)], rank)
	case rank != scrape.Unranked:
		who = fmt.Sprintf("%4d ", rank)
	}
	fmt.Fprintf(r.Out, "%s%s\n", who, line)
}

// RankSet is a set of ranks, as ranges. It is a flag value.
type RankSet [][2]int

func (s RankSet) has(rank int) bool {
	for _, r := range s {
		if r[0] <= rank && rank <= r[1] {
			return true
		}
	}
	return false
}

// Set reads 0,3,8-11. It is part of pflag.Value.
func (s *RankSet) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 31)
		last, err2 := strconv.ParseUint(to, 10, 31)
		if err1 != nil || err2 != nil || first > last {
			return exit.Usagef("want ranks such as 0,3,8-11")
		}
		*s = append(*s, [2]int{int(first), int(last)})
	}
	return nil
}

func (s *RankSet) String() string { return "" }

// Type is part of pflag.Value.
func (*RankSet) Type() string { return "ranks" }
