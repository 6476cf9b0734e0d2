package job

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// console is the step's own log: the job's output as it comes, and between its
// lines what the launcher has to say, marked "argosy: ". It is safe for
// concurrent use.
type console struct {
	mu   sync.Mutex
	w    io.Writer
	open bool // the last line has no end yet
}

// Write passes the job's output on.
func (c *console) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = p[len(p)-1] != '\n'
	return c.w.Write(p)
}

// say prints a line of the launcher's own. A failed write does not stop the job.
func (c *console) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := scrape.LauncherSays + strings.TrimRight(fmt.Sprintf(format, args...), "\n") + "\n"
	if c.open {
		line = "\n" + line
		c.open = false
	}
	_, _ = io.WriteString(c.w, line)
}

// tail keeps the last lines of what is written to it.
type tail struct {
	lines []string
	line  []byte
}

const (
	tailLines = 20
	tailWidth = 400 // bytes kept of a line
)

// Write takes output. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	for _, piece := range bytes.SplitAfter(p, []byte("\n")) {
		if room := tailWidth - len(t.line); room > 0 {
			t.line = append(t.line, piece[:min(len(piece), room)]...)
		}
		if bytes.HasSuffix(piece, []byte("\n")) {
			t.end()
		}
	}
	return len(p), nil
}

func (t *tail) end() {
	// mpirun frames its remarks with lines of dashes, which are left out.
	if text := strings.TrimRight(string(t.line), "\r\n"); strings.Trim(text, "- ") != "" {
		t.lines = append(t.lines, text)
		if len(t.lines) > tailLines {
			t.lines = t.lines[1:]
		}
	}
	t.line = t.line[:0]
}

// last returns the lines kept, oldest first.
func (t *tail) last() []string {
	t.end()
	return t.lines
}
