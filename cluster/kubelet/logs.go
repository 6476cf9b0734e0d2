package kubelet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// A log file holds one entry a line: the time the line was begun, F for a whole
// line or P for a piece of one that goes on in the next entry, and the text.
const (
	logTime   = "2006-01-02T15:04:05.000000000Z"
	logPrefix = len(logTime) + len(" F ")
	maxPiece  = 16 << 10 // bytes of text in an entry
)

// logFile takes the output of a container.
type logFile struct {
	file *os.File

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when there is more
	closed  bool
}

func createLog(path string) (*logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &logFile{file: f, changed: make(chan struct{})}, nil
}

func (p *pod) logPath(container string, restarts int32) string {
	return p.path(logFolder, container, strconv.Itoa(int(restarts))+".log")
}

// pump writes what a container says until it says no more. What has arrived is
// written at once, a line that is not finished too: it may be a prompt, or a
// progress bar.
func (l *logFile) pump(output io.Reader) error {
	buf := make([]byte, 4*maxPiece)
	var out bytes.Buffer
	for {
		n, err := output.Read(buf)
		now := time.Now()
		for arrived := buf[:n]; len(arrived) > 0; {
			end := min(len(arrived), maxPiece)
			if i := bytes.IndexByte(arrived[:end], '\n'); i >= 0 {
				end = i + 1
			}
			appendEntry(&out, now, arrived[:end])
			arrived = arrived[end:]
		}
		if n > 0 {
			if werr := l.write(out.Bytes()); werr != nil {
				return werr
			}
			out.Reset()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func appendEntry(b *bytes.Buffer, at time.Time, piece []byte) {
	b.WriteString(at.UTC().Format(logTime))
	text, whole := bytes.CutSuffix(piece, []byte("\n"))
	if whole {
		b.WriteString(" F ")
	} else {
		b.WriteString(" P ")
	}
	b.Write(text)
	b.WriteByte('\n')
}

func (l *logFile) write(b []byte) error {
	_, err := l.file.Write(b)
	l.mu.Lock()
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	return err
}

func (l *logFile) close() {
	_ = l.file.Close() // nothing is buffered
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.changed)
	}
}

// more returns a channel that is closed when there is more to read, or, with
// ended true, says that there will be no more.
func (l *logFile) more() (changed <-chan struct{}, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed, l.closed
}

// logEntry is an entry of a log file.
type logEntry struct {
	at    time.Time
	whole bool
	text  []byte
}

// parseEntry reads an entry without its line feed.
func parseEntry(line []byte) (logEntry, error) {
	if len(line) < logPrefix || line[len(logTime)] != ' ' || line[len(logTime)+2] != ' ' {
		return logEntry{}, fmt.Errorf("not an entry of a log: %.40q", line)
	}
	at, err := time.Parse(logTime, string(line[:len(logTime)]))
	if err != nil {
		return logEntry{}, fmt.Errorf("not an entry of a log: %w", err)
	}
	kind := line[len(logTime)+1]
	if kind != 'F' && kind != 'P' {
		return logEntry{}, fmt.Errorf("not an entry of a log: kind %q", kind)
	}
	return logEntry{at: at, whole: kind == 'F', text: line[logPrefix:]}, nil
}

// logOptions say what of a log is wanted.
type logOptions struct {
	follow     bool
	timestamps bool
	since      time.Time // zero: all
	tail       int64     // lines; below zero: all
	limit      int64     // bytes; zero: no limit
}

// copyLog writes a log to w. With follow it goes on until the log has ended;
// live may be nil for a log that nothing is added to.
func copyLog(ctx context.Context, w io.Writer, path string, live *logFile, o logOptions) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if o.tail >= 0 {
		at, err := tailStart(f, o.tail)
		if err != nil {
			return err
		}
		if _, err := f.Seek(at, io.SeekStart); err != nil {
			return err
		}
	}
	out := &logWriter{w: w, o: o, fresh: true}
	r := bufio.NewReaderSize(f, maxPiece+logPrefix+1)
	for {
		// Asked for before reading, so that nothing written in between is missed.
		var changed <-chan struct{}
		ended := true
		if live != nil {
			changed, ended = live.more()
		}
		if err := out.copy(r); err != nil || out.full {
			return err
		}
		if fl, ok := w.(interface{ Flush() }); ok {
			fl.Flush()
		}
		if ended || !o.follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // the reader went away
		case <-changed:
		}
	}
}

// logWriter writes entries the way the reader wants them.
type logWriter struct {
	w       io.Writer
	o       logOptions
	fresh   bool // the next entry begins a line
	written int64
	full    bool
	partial []byte // the beginning of an entry whose rest is not in the file yet
}

// copy writes all whole entries there are.
func (lw *logWriter) copy(r *bufio.Reader) error {
	for !lw.full {
		line, err := r.ReadBytes('\n')
		lw.partial = append(lw.partial, line...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		entry, err := parseEntry(lw.partial[:len(lw.partial)-1])
		if err == nil {
			err = lw.entry(entry)
		}
		lw.partial = lw.partial[:0]
		if err != nil {
			return err
		}
	}
	return nil
}

func (lw *logWriter) entry(e logEntry) error {
	fresh := lw.fresh
	lw.fresh = e.whole
	if e.at.Before(lw.o.since) {
		return nil
	}
	var b []byte
	if lw.o.timestamps && fresh {
		b = append(b, e.at.Format(time.RFC3339Nano)...)
		b = append(b, ' ')
	}
	b = append(b, e.text...)
	if e.whole {
		b = append(b, '\n')
	}
	if limit := lw.o.limit; limit > 0 && lw.written+int64(len(b)) >= limit {
		b = b[:limit-lw.written]
		lw.full = true
	}
	lw.written += int64(len(b))
	_, err := lw.w.Write(b)
	return err
}

// tailStart finds where the last n lines of a log begin, reading from its end.
func tailStart(f *os.File, n int64) (int64, error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || n == 0 || end == 0 {
		return end, err
	}
	lines, next := int64(0), end
	kind := make([]byte, 1)
	for start, err := range entriesBackwards(f, end) {
		if err == nil {
			_, err = f.ReadAt(kind, start+int64(len(logTime))+1)
		}
		if err != nil {
			return 0, err
		}
		// A whole entry ends a line; so does, for now, the last entry of all.
		if kind[0] == 'F' || next == end {
			if lines++; lines > n {
				return next, nil
			}
		}
		next = start
	}
	return 0, nil
}

// entriesBackwards yields where the entries before end begin, the last one first.
func entriesBackwards(f *os.File, end int64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		buf := make([]byte, 64<<10)
		for at := end - 1; at > 0; { // the last byte ends the last entry
			size := min(int64(len(buf)), at)
			at -= size
			if _, err := f.ReadAt(buf[:size], at); err != nil {
				yield(0, err)
				return
			}
			for i := size - 1; i >= 0; i-- {
				if buf[i] == '\n' && !yield(at+i+1, nil) {
					return
				}
			}
		}
		yield(0, nil)
	}
}

// tailOf is the text of a log's last lines, at most limit bytes.
func tailOf(path string, lines int64, limit int) (string, error) {
	var b bytes.Buffer
	if err := copyLog(context.Background(), &b, path, nil, logOptions{tail: lines}); err != nil {
		return "", err
	}
	text := b.Bytes()
	return string(text[max(0, len(text)-limit):]), nil
}
