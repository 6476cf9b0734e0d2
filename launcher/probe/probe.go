// Package probe measures the bandwidth between the ranks of a job with an all-reduce, and reads what that prints.
//
// Programs print it as nccl-tests does. The bus bandwidth is size / time * 2 * (ranks - 1) / ranks:
// https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
package probe

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	//go:embed probe.sh
	script string
	//go:embed mpi/allreduce.py
	python string
	//go:embed mpi/allreduce.c
	c string
)

// Command measures over so many ranks, in the pod that has mpirun.
func Command(ranks int) []string {
	return []string{"sh", "-c", script, "sh", strconv.Itoa(ranks), python, c}
}

// Mark begins each line of the probe.
const Mark = "argosy: probe: "

// The names of facts about a job that the probe finds out.
const (
	Bandwidth = "bus bandwidth"   // as in 3.13 GB/s
	Measured  = "bandwidth probe" // how it was measured, or why it was not
)

var (
	begins = regexp.MustCompile(`^all-reduce of (.+)$`)
	none   = regexp.MustCompile(`^no bandwidth: (.+)$`)
	rank   = regexp.MustCompile(`^#\s+Rank\s+\d+ `)
	// row has the size, and out of place the time and both bandwidths.
	row = regexp.MustCompile(`^\s*(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)(?:\s|$)`)
)

// Reader reads a job's output for what the probe prints. The zero Reader is ready.
type Reader struct {
	program, last, why string
	ranks              int
	size               int64
	bus                float64
}

// Line reads a line.
func (r *Reader) Line(line []byte) {
	text, own := bytes.CutPrefix(line, []byte(Mark))
	if !own {
		return
	}
	text = bytes.TrimRight(text, " \t\r")
	if g := begins.FindSubmatch(text); g != nil {
		*r = Reader{program: string(g[1])}
		return
	}
	if g := none.FindSubmatch(text); g != nil {
		r.why = string(g[1])
		return
	}
	if len(text) == 0 {
		return
	}
	r.last = string(text)
	if rank.Match(text) {
		r.ranks++
	}
	if g := row.FindSubmatch(text); g != nil {
		size, _ := strconv.ParseInt(string(g[1]), 10, 64)
		bus, _ := strconv.ParseFloat(string(g[2]), 64)
		if size >= r.size {
			r.size, r.bus = size, bus
		}
	}
}

// Facts are what the probe found out about a job of so many ranks; none if it did not run. The largest message counts.
func (r *Reader) Facts(ranks int) map[string]string {
	switch {
	case r.why != "":
		return map[string]string{Measured: "none: " + r.why}
	case r.program == "":
		return nil
	case r.size == 0:
		return map[string]string{Measured: fmt.Sprintf("none: %s failed: %s", r.program, clip(r.last))}
	case r.ranks != ranks:
		return map[string]string{Measured: fmt.Sprintf("none: %s ran on %d of %d ranks", r.program, r.ranks, ranks)}
	}
	return map[string]string{
		Bandwidth: strconv.FormatFloat(r.bus, 'g', -1, 64) + " GB/s",
		Measured:  fmt.Sprintf("all-reduce of %s, %s", bytesText(r.size), r.program),
	}
}

func clip(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func bytesText(size int64) string {
	for _, u := range []struct {
		unit int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if size >= u.unit && size%u.unit == 0 {
			return fmt.Sprintf("%d %s", size/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", size)
}
