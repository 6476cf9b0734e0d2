package podlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// What is kept of a life's output: the same as Kubernetes keeps by default.
const (
	segmentSize = 10 << 20
	maxSegments = 5
)

// Writer writes the log of a life.
type Writer struct {
	life Life

	mu      sync.Mutex
	file    *os.File
	segment int
	size    int64
	limit   int64 // of a segment
}

// Create begins the log of a life.
func Create(life Life) (*Writer, error) {
	if err := os.MkdirAll(life.Folder, 0o755); err != nil {
		return nil, err
	}
	w := &Writer{life: life, limit: segmentSize}
	return w, w.open()
}

func (w *Writer) open() (err error) {
	w.size = 0
	w.file, err = os.Create(w.life.Segment(w.segment))
	return err
}

// Pump writes what comes from one stream until nothing more does. What has
// arrived is written at once, a line that is not finished too: it may be a
// prompt, or a progress bar.
func (w *Writer) Pump(stream string, output io.Reader) error {
	buf := make([]byte, 2*maxPiece)
	var out bytes.Buffer
	for {
		n, err := output.Read(buf)
		now := time.Now()
		for arrived := buf[:n]; len(arrived) > 0; {
			end := min(len(arrived), maxPiece)
			if i := bytes.IndexByte(arrived[:end], '\n'); i >= 0 {
				end = i + 1
			}
			AppendEntry(&out, now, stream, arrived[:end])
			arrived = arrived[end:]
		}
		if n > 0 {
			if werr := w.write(out.Bytes()); werr != nil {
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

// write adds whole entries, in a new segment where the one before is full.
func (w *Writer) write(entries []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.size > 0 && w.size+int64(len(entries)) > w.limit {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	n, err := w.file.Write(entries)
	w.size += int64(n)
	return err
}

func (w *Writer) rotate() error {
	if err := w.file.Close(); err != nil {
		return err
	}
	w.segment++
	if err := w.open(); err != nil {
		return err
	}
	if w.segment < maxSegments {
		return nil
	}
	return os.Remove(w.life.Segment(w.segment - maxSegments))
}

// Close ends the writing; the life is over only with its exit.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.file.Close()
}
