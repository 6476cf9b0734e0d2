package emissary

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/pipe"
)

// outputLimit is how long output of processes that the command left behind is waited for.
const outputLimit = 100 * time.Millisecond

// taps copy what a command writes, while it runs. What it wrote before its end is copied whole, however long that takes.
type taps struct {
	from, into []*os.File // both ends of a pipe each
	files      []*os.File
	copying    sync.WaitGroup
}

// tap has what the command writes kept in files.
func (s *step) tap(cmd *exec.Cmd, t *taps) error {
	for _, name := range []string{"stdout", "combined"} {
		f, err := os.OpenFile(filepath.Join(s.dir(), name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
		if err != nil {
			return err
		}
		t.files = append(t.files, f)
	}
	stdout, combined := t.files[0], t.files[1]
	out, err := t.open(io.MultiWriter(os.Stdout, stdout, combined))
	if err != nil {
		return err
	}
	fault, err := t.open(io.MultiWriter(os.Stderr, combined))
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = out, fault
	return nil
}

// open gives the command something to write to, from which all comes to w.
func (t *taps) open(w io.Writer) (*os.File, error) {
	from, into, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	t.from, t.into = append(t.from, from), append(t.into, into)
	t.copying.Go(func() {
		_, _ = io.Copy(w, pipe.New(from))
		_ = from.Close() // later writers get EPIPE
	})
	return into, nil
}

// started is called when the command has its ends of the pipes, or will never have them.
func (t *taps) started() {
	for _, f := range t.into {
		_ = f.Close()
	}
}

// end is called when the command has ended, and returns when everything is copied.
func (t *taps) end() {
	t.started()
	late := time.AfterFunc(outputLimit, func() {
		for _, f := range t.from {
			_ = f.SetReadDeadline(time.Unix(1, 0))
		}
	})
	defer late.Stop()
	t.copying.Wait()
	for _, f := range t.files {
		_ = f.Close()
	}
}
