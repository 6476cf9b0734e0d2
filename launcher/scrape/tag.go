package scrape

import (
	"bytes"
	"regexp"
)

// Unranked is the rank of what no rank tag claims, such as mpirun's own messages.
const Unranked = -1

// source is where a piece of text comes from.
type source struct {
	rank int
	err  bool // standard error rather than standard output
}

var unranked = source{rank: Unranked}

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
		at := streamMark(b, from)
		if at < 0 {
			return source{}, 0, 0, false
		}
		from = at + len("]<std")
		size, stderr := streamName(b[from:])
		if size == 0 {
			continue
		}
		rank, open := rankBefore(b[:at])
		if open < 0 {
			continue
		}
		if open >= stampLen && stamp.Match(b[open-stampLen:open]) {
			open -= stampLen
		}
		return source{rank: rank, err: stderr}, open, from + size, true
	}
}

// streamMark finds "]<std" behind from, by the byte of it that is rare in logs.
func streamMark(b []byte, from int) int {
	for {
		at := bytes.IndexByte(b[from:], '<')
		if at < 0 {
			return -1
		}
		at += from
		from = at + 1
		if at > 0 && b[at-1] == ']' && bytes.HasPrefix(b[from:], []byte("std")) {
			return at - 1
		}
	}
}

// streamName reads the rest of <stdout>:, <stderr>: or <stddiag>:.
func streamName(b []byte) (size int, stderr bool) {
	switch {
	case bytes.HasPrefix(b, []byte("out>:")):
		return len("out>:"), false
	case bytes.HasPrefix(b, []byte("err>:")):
		return len("err>:"), true
	case bytes.HasPrefix(b, []byte("diag>:")):
		return len("diag>:"), true
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
	digits := 0 // behind the last comma; less when there is something else
	for _, c := range b[open+1:] {
		switch c {
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if digits >= 0 {
				rank = rank*10 + int(c-'0')
				digits++
			}
		case ',':
			rank, digits = 0, 0
		case ' ', '\t', '<', '>', ']':
			return 0, -1
		default:
			digits = -1
		}
	}
	if digits <= 0 || digits > 7 {
		return 0, -1
	}
	return rank, open
}

// leadingTag finds a tag that is only believed at the start of a line: "[3] ", "3: ", "[rank3]:" or "[default3]:".
func leadingTag(b []byte) (src source, end int, ok bool) {
	open, digits, closing := 0, b, ": "
	if bytes.HasPrefix(b, []byte("[")) {
		open, closing = 1, "] "
		for _, word := range []string{"rank", "default"} {
			if bytes.HasPrefix(b[1:], []byte(word)) {
				open, closing = 1+len(word), "]:"
			}
		}
		digits = b[open:]
	}
	n, rank := 0, 0
	for n < len(digits) && n < 8 && isDigit(digits[n]) {
		rank = rank*10 + int(digits[n]-'0')
		n++
	}
	if n == 0 || n > 7 || !bytes.HasPrefix(digits[n:], []byte(closing)) {
		return source{}, 0, false
	}
	return source{rank: rank}, open + n + len(closing), true
}
