package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Found says where a text is in a log.
type Found struct {
	Total    int64   // lines that hold it
	Lines    []int64 // numbers of some of them, from 1
	Searched int64   // lines of the log
}

// Wanted is what is looked for in lines.
type Wanted struct {
	Text   string // whatever its case
	Errors bool   // instead of it: what tells of an error
}

// Find reads a log to its end and finds the lines that hold what is wanted. It passes over terminal colours, counts all lines and keeps
// the numbers of at most so many, without the first ones that are to be skipped.
func Find(ctx context.Context, log Lines, what Wanted, skip, most int64) (Found, error) {
	s := newSought(what)
	f := Found{Lines: []int64{}}
	for counted := int64(0); ; { // the number of the last line that matched: one that grows may come twice
		lines, err := log.Next(ctx)
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return Found{}, err
		}
		for _, l := range lines {
			f.Searched = l.Number
			if l.Number == counted || !s.in(l.Text) {
				continue
			}
			counted = l.Number
			if f.Total++; f.Total > skip && int64(len(f.Lines)) < most {
				f.Lines = append(f.Lines, l.Number)
			}
		}
		if lines[len(lines)-1].Growing {
			return f, nil
		}
	}
}

// Place is a line of one of several logs.
type Place struct {
	Log  int   // index, from 0
	Line int64 // number, from 1
}

// FoundIn says where a text is in several logs.
type FoundIn struct {
	Total    int64   // lines that hold it
	Places   []Place // some of them, by the times of the lines
	Searched int64   // lines of all logs
}

// FindIn reads several logs to their ends and finds lines as Find does.
func FindIn(ctx context.Context, all *Merged, what Wanted, skip, most int64) (FoundIn, error) {
	f := FoundIn{Places: []Place{}}
	for s := newSought(what); ; {
		lines, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return FoundIn{}, err
		}
		for _, l := range lines {
			f.Searched++
			if !s.in(l.Text) {
				continue
			}
			if f.Total++; f.Total > skip && int64(len(f.Places)) < most {
				f.Places = append(f.Places, Place{l.Log, l.Number})
			}
		}
	}
}

// escapes are what a terminal takes for colours and the like, which takes no room there.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))`)

// What tells of an error. One of failureWords is in each line that failure matches, and is found faster.
var (
	failure      = regexp.MustCompile(`\b(?:error|exception|traceback|fatal|panic|segmentation fault|oomkilled)\b|\B(?:error|exception)\b`)
	failureWords = [][]byte{[]byte("error"), []byte("exception"), []byte("traceback"), []byte("fatal"), []byte("panic"), []byte("segmentation fault"), []byte("oomkilled")}
	none         = regexp.MustCompile(`^\s*[:=]\s*0\b`) // behind it
)

// tellsOfError tells whether a line in lower case tells of an error, and not of none.
func tellsOfError(line []byte) bool {
	if !slices.ContainsFunc(failureWords, func(word []byte) bool { return bytes.Contains(line, word) }) {
		return false
	}
	return slices.ContainsFunc(failure.FindAllIndex(line, -1), func(at []int) bool {
		return !bytes.HasSuffix(line[:at[0]], []byte("no ")) && !none.Match(line[at[1]:])
	})
}

// sought tells lines, in lower case, that hold what is wanted. It has room to write a line in lower case.
type sought struct {
	is    func(line []byte) bool
	lower []byte
}

func newSought(what Wanted) *sought {
	if what.Errors {
		return &sought{is: tellsOfError}
	}
	text := bytes.ToLower([]byte(what.Text))
	return &sought{is: func(line []byte) bool { return bytes.Contains(line, text) }}
}

func (s *sought) in(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\r"))
	line = line[bytes.LastIndexByte(line, '\r')+1:] // a progress bar shows its last state
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = escapes.ReplaceAll(line, nil)
	}
	s.lower = s.lower[:0]
	for _, b := range line {
		if b >= utf8.RuneSelf {
			return s.is(bytes.ToLower(line))
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		s.lower = append(s.lower, b)
	}
	return s.is(s.lower)
}
