package home

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// HeldError says that another process holds a lock.
type HeldError struct {
	Path string
	PID  int // 0 when the holder did not write it down
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	return fmt.Sprintf("%s is locked by process %d", e.Path, e.PID)
}

// Lock is a held lock file. The kernel lets go of it when the process ends, however it ends.
type Lock struct{ file *os.File }

// Acquire takes the lock file at path and writes this process's id into it.
// It returns a *HeldError when another process has it.
func Acquire(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := exclusively(f); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &HeldError{Path: path, PID: readPID(path)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := writePID(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{file: f}, nil
}

// Release lets go of the lock.
func (l *Lock) Release() error { return l.file.Close() }

// Holder is the process id written by the holder of the lock file at path, and whether there is a holder.
func Holder(path string) (pid int, held bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false // no file, no holder
	}
	defer f.Close()
	// A shared lock, let go at once: those who look do not exclude each other.
	if err := flock(f, unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return readPID(path), errors.Is(err, unix.EWOULDBLOCK)
	}
	return 0, false
}

// WaitUnheld returns nil once the lock file at path has been free for the time d, or the context's error.
func WaitUnheld(ctx context.Context, path string, d time.Duration) error {
	tick := time.NewTicker(min(time.Second, max(d/4, time.Millisecond)))
	defer tick.Stop()
	last := time.Now()
	for {
		if _, held := Holder(path); held {
			last = time.Now()
		} else if time.Since(last) >= d {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// exclusively locks the file for its owner alone, or fails where another process owns it. Holder shares the lock for a moment when it
// looks. exclusively outlasts that, a minute at most: while it can share the lock too, no one owns the file. It asks every five
// milliseconds, because flock can wait for a lock but not for readers alone.
func exclusively(f *os.File) error {
	const pause, longest = 5 * time.Millisecond, time.Minute
	for range longest / pause {
		if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if err := errors.Join(flock(f, unix.LOCK_SH|unix.LOCK_NB), flock(f, unix.LOCK_UN)); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return unix.EWOULDBLOCK
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readPID(path string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0
	}
	return pid
}
