package scrape

import (
	"bytes"
	"regexp"
	"strconv"
)

// Unranked is the rank of what no rank tag claims, such as mpirun's own messages.
const Unranked = -1

// source is where a piece of text comes from.
type source struct {
	rank int
	err  bool // standard error rather than standard output
}

var unranked = source{rank: Unranked}

// leading matches the tags that are believed only at the start of a line:
// "[3] ", "3: ", "[rank3]:" and "[default3]:".
var leading = regexp.MustCompile(`^(?:\[(\d{1,7})\] |(\d{1,7}): |\[(?:rank|default)(\d{1,7})\]:)`)

// colour matches ANSI escape sequences: CSI, OSC and the two-byte ones.
var colour = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-Z\\^_=>])`)

func stripColour(b []byte) []byte {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	return colour.ReplaceAll(b, nil)
}

// stamp matches the time that mpirun --timestamp-output glues in front of a tag.
var stamp = regexp.MustCompile(
	`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \d{4}$`)

const stampLen = len("Fri Nov 20 23:13:20 2026")

// nextTag finds the first of the tags that are believed anywhere in a line,
// because nothing else looks like them: [job,rank]<stdout>:,
// [ns,rank][host:pid]<stdout>: and [rank]<stdout>:, with the time in front if
// there is one.
func nextTag(b []byte) (src source, start, end int, ok bool) {
	for from := 0; ; {
		at := bytes.Index(b[from:], []byte("]<std"))
		if at < 0 {
			return source{}, 0, 0, false
		}
		at += from
		from = at + 1
		size, stderr := streamName(b[at+len("]<std"):])
		rank, open := rankBefore(b[:at])
		if size == 0 || open < 0 {
			continue
		}
		if open >= stampLen && stamp.Match(b[open-stampLen:open]) {
			open -= stampLen
		}
		return source{rank: rank, err: stderr}, open, at + len("]<std") + size, true
	}
}

// streamName reads the rest of <stdout>:, <stderr>: or <stddiag>:.
func streamName(b []byte) (size int, stderr bool) {
	for _, name := range []string{"out>:", "err>:", "diag>:"} {
		if bytes.HasPrefix(b, []byte(name)) {
			return len(name), name != "out>:"
		}
	}
	return 0, false
}

// rankBefore reads backwards the `[job,rank` or `[ns,rank][host:pid` that b ends
// with. open is where it begins, -1 when there is none.
func rankBefore(b []byte) (rank, open int) {
	open = bytes.LastIndexByte(b, '[')
	if open < 0 || len(b)-open > 300 {
		return 0, -1
	}
	if open > 0 && b[open-1] == ']' && bytes.IndexByte(b[open:], ':') > 0 {
		return rankBefore(b[:open-1]) // that was [host:pid]
	}
	inside := b[open+1:]
	if bytes.ContainsAny(inside, " \t<>]") {
		return 0, -1
	}
	digits := inside[bytes.LastIndexByte(inside, ',')+1:]
	if len(digits) == 0 || len(digits) > 7 || digitCount(digits) != len(digits) {
		return 0, -1
	}
	rank, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0, -1
	}
	return rank, open
}

// leadingTag finds a tag that is only believed at the start of a line.
func leadingTag(b []byte) (src source, end int, ok bool) {
	if len(b) == 0 || (b[0] != '[' && !isDigit(b[0])) {
		return source{}, 0, false
	}
	m := leading.FindSubmatchIndex(b)
	if m == nil {
		return source{}, 0, false
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] < 0 {
			continue
		}
		if rank, err := strconv.Atoi(string(b[m[g]:m[g+1]])); err == nil {
			return source{rank: rank}, m[1], true
		}
	}
	return source{}, 0, false
}
