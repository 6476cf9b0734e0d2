package engine

import (
	"bytes"
	"io"
)

// Argo's executor writes lines of its own into the log of the container that it runs; they all look like this.
var (
	executorStart = []byte(`time="`)
	executorMark  = []byte(` argo=true`)
)

// maxExecutorLine is how long a line of the executor may be; longer ones are the user's.
const maxExecutorLine = 64 << 10

// quiet leaves the executor's lines out of a log. Text that cannot be one is passed on at once, so that a progress bar,
// which ends no line, still shows.
type quiet struct {
	io.ReadCloser
	ready   []byte // to be given out
	line    []byte // the beginning of a line that may be the executor's
	inLine  bool   // within a line that is not
	lastErr error
}

func (q *quiet) Read(p []byte) (int, error) {
	for len(q.ready) == 0 {
		if q.lastErr != nil {
			return 0, q.lastErr
		}
		chunk := make([]byte, max(len(p), 4096))
		n, err := q.ReadCloser.Read(chunk)
		q.sift(chunk[:n])
		if q.lastErr = err; err != nil { // no more will come to complete the line
			q.endLine()
		}
	}
	n := copy(p, q.ready)
	q.ready = q.ready[n:]
	return n, nil
}

// sift moves what is the user's to ready.
func (q *quiet) sift(chunk []byte) {
	for len(chunk) > 0 {
		end := bytes.IndexByte(chunk, '\n') + 1
		ended := end > 0
		if !ended {
			end = len(chunk)
		}
		part := chunk[:end]
		chunk = chunk[end:]
		if q.inLine {
			q.ready = append(q.ready, part...)
		} else {
			q.line = append(q.line, part...)
			if !mayBeExecutor(q.line) || len(q.line) > maxExecutorLine {
				q.ready, q.line, q.inLine = append(q.ready, q.line...), nil, true
			}
		}
		if ended {
			q.endLine()
		}
	}
}

// endLine decides about the line that was held back, if one was.
func (q *quiet) endLine() {
	if !bytes.Contains(q.line, executorMark) {
		q.ready = append(q.ready, q.line...)
	}
	q.line, q.inLine = nil, false
}

func mayBeExecutor(line []byte) bool {
	n := min(len(line), len(executorStart))
	return bytes.Equal(line[:n], executorStart[:n])
}
