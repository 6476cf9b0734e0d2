// Package readiness lets a child process report to its supervisor that it
// serves. The message travels over a pipe whose descriptor number is in the
// environment.
package readiness

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Env is the environment variable with the pipe's file descriptor.
const Env = "ARGOSY_READY_FD"

var announce = sync.OnceValue(func() error {
	v := os.Getenv(Env)
	if v == "" {
		return nil // started by hand, without a supervisor
	}
	fd, err := strconv.Atoi(v)
	if err != nil {
		return fmt.Errorf("%s=%q: %w", Env, v, err)
	}
	f := os.NewFile(uintptr(fd), "readiness")
	if _, err := f.WriteString("ready\n"); err != nil {
		return fmt.Errorf("tell the supervisor: %w", err)
	}
	return f.Close()
})

// Announce tells the supervisor that this process serves. Only the first call does something.
func Announce() error { return announce() }
