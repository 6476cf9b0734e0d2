// Package pipe reads what programs write, to the last byte.
package pipe

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// most is how much is taken in after the deadline: more than a pipe usually holds, and an end where others go on writing.
const most = 1 << 20

// Patient reads a pipe or a terminal to its end, or to the read deadline of the file and then what has arrived by then. A caller
// that sets the deadline when a program ends gets all that the program wrote, however slow the reader is, and does not wait for other
// processes that hold the file open.
type Patient struct {
	file *os.File
	late bool
	left int
}

// New reads a file, whose deadline others set.
func New(f *os.File) *Patient { return &Patient{file: f, left: most} }

// Read implements io.Reader.
func (p *Patient) Read(b []byte) (int, error) {
	if !p.late {
		n, err := p.file.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		p.late = true
		_ = p.file.SetReadDeadline(time.Time{}) // or nothing could be read any more
	}
	raw, err := p.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var rerr error
	err = raw.Read(func(fd uintptr) bool {
		for {
			if n, rerr = unix.Read(int(fd), b[:min(len(b), p.left)]); !errors.Is(rerr, unix.EINTR) {
				return true // whether there is something or not
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(rerr, unix.EAGAIN) || rerr == nil && n == 0:
		return 0, io.EOF
	case rerr != nil:
		return 0, os.NewSyscallError("read", rerr)
	}
	p.left -= n
	return n, nil
}
