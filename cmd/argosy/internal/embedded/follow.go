package embedded

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// follower reads the lines that are being appended to a file, from where it ended at first.
type follower struct {
	file *os.File
	rest []byte // of a line not yet ended
	seen []string
}

func followFrom(f *os.File) (*follower, error) {
	r, err := os.Open(f.Name())
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &follower{file: r}, nil
}

func (f *follower) Close() error { return f.file.Close() }

// each hands on the whole lines that came since the last call.
func (f *follower) each(line func(string)) error {
	data, err := io.ReadAll(f.file)
	if err != nil {
		return err
	}
	f.rest = append(f.rest, data...)
	for {
		l, rest, found := bytes.Cut(f.rest, []byte("\n"))
		if !found {
			return nil
		}
		f.rest = rest
		f.seen = append(f.seen, string(l))
		line(string(l))
	}
}

// said gives the last lines read, indented.
func (f *follower) said(lines int) string {
	last := append(f.seen[:len(f.seen):len(f.seen)], string(f.rest))
	return indent(last, lines)
}

// tail gives the last lines of a file, indented; empty when there is nothing to read.
func tail(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 16 << 10
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, _ = f.Seek(-most, io.SeekEnd)
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return ""
	}
	return indent(strings.Split(string(data), "\n"), lines)
}

func indent(lines []string, most int) string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	lines = lines[max(0, len(lines)-most):]
	if len(lines) == 0 {
		return ""
	}
	return "    " + strings.Join(lines, "\n    ")
}
