package gitsync

import (
	"bytes"
	"fmt"
	"io"
)

// say writes one line of progress. It ignores errors: the checkout goes on without readers.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, "git-sync: "+format+"\n", args...)
}

// lines passes on what a server says, without the steps of its progress bars.
type lines struct {
	w    io.Writer
	line []byte
}

// Write takes the server's messages.
func (l *lines) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '\r':
			l.line = l.line[:0]
		case c == '\n':
			if text := bytes.TrimSpace(l.line); len(text) > 0 {
				say(l.w, "remote: %s", text)
			}
			l.line = l.line[:0]
		case len(l.line) < 1024:
			l.line = append(l.line, c)
		}
	}
	return len(p), nil
}
