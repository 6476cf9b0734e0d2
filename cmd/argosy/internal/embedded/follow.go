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

// follow begins at the end of the file at path.
func follow(path string) (*follower, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &follower{file: f}, nil
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
	text := strings.TrimRight(strings.Join(f.seen, "\n")+"\n"+string(f.rest), "\n")
	if text == "" {
		return ""
	}
	all := strings.Split(text, "\n")
	return "    " + strings.Join(all[max(0, len(all)-lines):], "\n    ")
}
