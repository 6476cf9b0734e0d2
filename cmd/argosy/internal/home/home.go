// Package home is the data folder of `argosy up`: where it is, what lies in it, and who holds it.
package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Home is the data folder, as an absolute path.
type Home string

// Default is where the data folder lies unless told otherwise: argosy below $XDG_DATA_HOME, which is ~/.local/share when
// it is not set (or not absolute, as the XDG base directory specification says).
func Default() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "argosy"), nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no data folder: %w; name one with --home or ARGOSY_HOME", err)
	}
	return filepath.Join(user, ".local", "share", "argosy"), nil
}

// At is the data folder dir, whether it is there or not.
func At(dir string) (Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data folder %q: %w", dir, err)
	}
	return Home(abs), nil
}

// Open makes the data folder where it is missing; only its owner may look into it.
func Open(dir string) (Home, error) {
	h, err := At(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(h.Path("cluster", "log"), 0o700); err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return h, nil
}

// Path joins the folder with elements below it.
func (h Home) Path(elem ...string) string {
	return filepath.Join(append([]string{string(h)}, elem...)...)
}

// Shared is the folder that every pod sees, read-only, at the same path.
func (h Home) Shared() string { return h.Path("shared") }

// Held says that another process has the data folder.
type Held struct {
	Home Home
	PID  int // 0: unknown
}

func (e *Held) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s runs Argosy on %s already; stop it, or choose another folder with --home", who, e.Home)
}

// Lock is the held data folder. The kernel lets go of it when the process ends, however it ends.
type Lock struct{ file *os.File }

// Lock takes the data folder for this process; the error is a *Held when another has it.
func (h Home) Lock() (*Lock, error) {
	path := h.Path("lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	// The cluster looks at the lock now and then, and has it for that moment.
	for range 10 {
		if err = lockFile(f, true); !errors.Is(err, errBusy) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err == nil {
		err = writePID(f)
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, errBusy) {
			return nil, &Held{Home: h, PID: readPID(path)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{file: f}, nil
}

// Release lets go of the folder.
func (l *Lock) Release() error { return l.file.Close() }

// Server is the process that runs Argosy on this folder, if one does.
func (h Home) Server() (pid int, runs bool) { return holder(h.Path("lock")) }

// Supervisor is the process that runs the embedded cluster of this folder, if one does.
func (h Home) Supervisor() (pid int, runs bool) { return holder(h.Path("cluster", "lock")) }

func holder(path string) (pid int, held bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false // no file: the lock is free
	}
	defer f.Close()
	if !errors.Is(lockFile(f, false), errBusy) {
		return 0, false
	}
	return readPID(path), true
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readPID(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return pid
}
