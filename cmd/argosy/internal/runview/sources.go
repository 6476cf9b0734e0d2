package runview

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
)

// Sources prints merged logs with the source in front of each line, such as [train worker 3], in a colour of its own.
type Sources struct {
	Out    io.Writer
	colors map[string]int
	rest   []byte // a line that has no end yet
}

// source is what a merge writes in front of a line, perhaps behind the time.
var source = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\dT\S+Z )?(\[[^\]]*\]) `)

func (s *Sources) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	end := bytes.LastIndexByte(s.rest, '\n') + 1
	var out bytes.Buffer
	for line := range bytes.SplitAfterSeq(s.rest[:end], []byte{'\n'}) {
		s.line(&out, line)
	}
	s.rest = append(s.rest[:0], s.rest[end:]...)
	if _, err := s.Out.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close prints a last line that has no end.
func (s *Sources) Close() error {
	var out bytes.Buffer
	s.line(&out, s.rest)
	_, err := s.Out.Write(out.Bytes())
	return err
}

func (s *Sources) line(out *bytes.Buffer, line []byte) {
	at := source.FindSubmatchIndex(line)
	if at == nil {
		out.Write(line)
		return
	}
	name := string(line[at[2]:at[3]])
	color, known := s.colors[name]
	if !known {
		if s.colors == nil {
			s.colors = map[string]int{}
		}
		color = rankColors[len(s.colors)%len(rankColors)]
		s.colors[name] = color
	}
	fmt.Fprintf(out, "%s\x1b[%dm%s\x1b[0m%s", line[:at[2]], color, name, line[at[3]:])
}
