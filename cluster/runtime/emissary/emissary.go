// Package emissary runs the command of a container of an Argo step and leaves
// its exit code, its output, its output parameters and its artifacts where
// Argo's executor looks for them. It does what `argoexec emissary` does, but
// learns from the kernel what that one looks for every second.
package emissary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Folder is the volume that Argo shares between the containers of a step.
const Folder = "/var/run/argo"

// ExitFault is Argo's exit code for a command that could not be run.
const ExitFault = 64

// Alone, before `--`, means that no other container of the pod ends this one: the pod has no executor.
const Alone = "--alone"

// Plain says, before `--`, that the template asks for nothing but the command: it need not be read.
const Plain = "--plain"

// ownProcessors carries the command's own GOMAXPROCS past the emissary.
const ownProcessors = "ARGOSY_COMMAND_GOMAXPROCS"

// Small is an environment in which the emissary starts fewer threads than it would; its command gets the one that was given.
func Small(env []string) []string {
	small := []string{"GOMAXPROCS=1"}
	for _, e := range env {
		if own, ok := strings.CutPrefix(e, "GOMAXPROCS="); ok {
			e = ownProcessors + "=" + own
		}
		small = append(small, e)
	}
	return small
}

// unshrink gives the command its own environment back.
func unshrink() error {
	own, ok := os.LookupEnv(ownProcessors)
	if !ok {
		return os.Unsetenv("GOMAXPROCS")
	}
	return errors.Join(os.Setenv("GOMAXPROCS", own), os.Unsetenv(ownProcessors))
}

// Main runs the command that follows `--` in args and returns its exit code.
func Main(args []string) int {
	s := step{folder: Folder, container: os.Getenv("ARGO_CONTAINER_NAME"), capture: os.Getenv("ARGO_INCLUDE_SCRIPT_OUTPUT") == "true"}
	for i, a := range args {
		if a == "--" {
			args = args[i+1:]
			break
		}
		s.alone = s.alone || a == Alone
		s.plain = s.plain || a == Plain
	}
	code, err := ExitFault, unshrink()
	if err == nil {
		code, err = s.run(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		// It becomes the message of the step.
		if werr := os.WriteFile("/dev/termination-log", []byte(err.Error()), 0o600); werr != nil {
			fmt.Fprintln(os.Stderr, "Error:", werr)
		}
	}
	return code
}

// usual are the signals that end containers. To ask for a signal takes some switches between threads, and for all of them
// longer than many a step; the others are asked for when the command has run for a while.
var usual = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}

const patience = 100 * time.Millisecond

// step is one container of a step.
type step struct {
	folder    string
	container string
	capture   bool // keep stdout for outputs.result
	alone     bool // no executor writes to the folder
	plain     bool // the template asks for nothing but the command
	template  *template
	signals   chan os.Signal
	told      bool // its command was: it is not run again
	umask     int  // of the command; its own files are for all containers of the pod, which may run as different users
}

func (s *step) dir() string { return containerDir(s.folder, s.container) }

// run returns the container's exit code. What it leaves as the command's own may be another one, as with Argo: where outputs
// could not be saved the command has its code and the container ExitFault.
func (s *step) run(args []string) (int, error) {
	// From the first moment on: the first process of a container that has no handler drops signals.
	s.signals = make(chan os.Signal, 16)
	signal.Notify(s.signals, usual...)
	all := time.AfterFunc(patience, func() { signal.Notify(s.signals) })
	defer all.Stop()
	s.umask = unix.Umask(0)
	defer unix.Umask(s.umask)
	if err := os.MkdirAll(s.dir(), 0o777); err != nil {
		return ExitFault, fmt.Errorf("failed to create ctr directory: %w", err)
	}
	code, err := s.work(args)
	own := code
	if err == nil && s.saves() {
		if err = s.saveUnlessTold(); err != nil {
			code = ExitFault
		}
	}
	if werr := s.writeExitCode(own); werr != nil {
		return ExitFault, errors.Join(err, werr)
	}
	return code, err
}

// saveUnlessTold saves the outputs. It gives up when the container is signalled to end, since large outputs take long.
func (s *step) saveUnlessTold() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	saved := make(chan error, 1)
	go func() { saved <- s.saveOutputs(ctx) }()
	err, told := unlessTold(s.signals, saved)
	if told {
		cancel()
		if err = <-saved; err != nil {
			err = errors.New("the step was ended while its outputs were saved")
		}
	}
	return err
}

// work waits for the container's turn and runs its command, as often as the template says.
func (s *step) work(args []string) (int, error) {
	if len(args) == 0 {
		return ExitFault, errors.New("no command")
	}
	var err error
	if s.plain {
		s.template = &template{}
	} else if s.template, err = readTemplate(s.folder); err != nil {
		return ExitFault, fmt.Errorf("failed to read template: %w", err)
	}
	s.capture = s.capture || s.template.ArchiveLocation != nil && s.template.ArchiveLocation.ArchiveLogs
	for _, name := range s.template.dependencies(s.container) {
		if code, err := s.depend(name); code != 0 || err != nil {
			return code, err
		}
	}
	tries, pause, err := s.template.tries()
	if err != nil {
		return ExitFault, fmt.Errorf("failed to get retry strategy: %w", err)
	}
	for {
		code, err := s.command(args)
		if tries--; err != nil || code == 0 || tries <= 0 || s.told {
			return code, err
		}
		timer := time.NewTimer(pause)
		if _, told := unlessTold(s.signals, timer.C); told {
			timer.Stop()
			return exitTold, nil
		}
	}
}

// exitTold is the exit code of a container that got SIGTERM before its command ran.
const exitTold = 128 + int(syscall.SIGTERM)

// unlessTold waits for done, or until the container is to end.
func unlessTold[T any](signals <-chan os.Signal, done <-chan T) (result T, told bool) {
	for {
		select {
		case result = <-done:
			return result, false
		case sig := <-signals:
			if sig == syscall.SIGTERM {
				return result, true
			}
		}
	}
}

// depend waits for another container of the set; a code that is not 0 ends this one.
func (s *step) depend(name string) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type end struct {
		code int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		code, err := Ended(ctx, s.folder, name)
		ended <- end{code, err}
	}()
	e, told := unlessTold(s.signals, ended)
	switch {
	case told:
		cancel()
		<-ended
		return exitTold, nil
	case e.err != nil:
		return ExitFault, e.err
	case e.code != 0:
		return ExitFault, fmt.Errorf("dependency %q exited with non-zero code: %d", name, e.code)
	}
	return 0, nil
}

// writeExitCode is the last thing that happens: its appearance says that all
// outputs are in place, so it must appear whole.
func (s *step) writeExitCode(code int) error {
	path := filepath.Join(s.dir(), exitCodeFile)
	if err := os.WriteFile(path+".tmp", []byte(strconv.Itoa(code)), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
