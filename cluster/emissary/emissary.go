// Package emissary runs the command of a plain Argo step and leaves its exit
// code, its output and its output parameters where Argo's executor looks for
// them. It does what `argoexec emissary` does for a template without container
// set, sidecars or artifacts, but wakes up at once instead of every second.
package emissary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Folder is the volume that Argo shares between the containers of a step.
const Folder = "/var/run/argo"

// exitFault is Argo's exit code for a command that could not be run.
const exitFault = 64

// template is what the emissary needs to know of an Argo template.
type template struct {
	Outputs struct {
		Parameters []struct {
			ValueFrom *struct {
				Path string `json:"path"`
			} `json:"valueFrom"`
		} `json:"parameters"`
	} `json:"outputs"`
}

// Main runs the command that follows `--` in args and returns its exit code.
func Main(args []string) int {
	s := step{folder: Folder, container: os.Getenv("ARGO_CONTAINER_NAME"), capture: os.Getenv("ARGO_INCLUDE_SCRIPT_OUTPUT") == "true"}
	for i, a := range args {
		if a == "--" {
			args = args[i+1:]
			break
		}
	}
	code, err := s.run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
	}
	if err := s.writeExitCode(code); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return exitFault
	}
	return code
}

type step struct {
	folder    string
	container string
	capture   bool // keep stdout for outputs.result
}

func (s step) dir() string { return filepath.Join(s.folder, "ctr", s.container) }

func (s step) run(args []string) (int, error) {
	// From the first moment on: the first process of a container that has no handler drops signals.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals)
	defer signal.Stop(signals)
	// Containers of a step may run as different users and share the folder.
	defer syscall.Umask(syscall.Umask(0))
	if err := os.MkdirAll(s.dir(), 0o777); err != nil {
		return exitFault, err
	}
	if len(args) == 0 {
		return exitFault, errors.New("no command")
	}
	var tmpl template
	data, err := os.ReadFile(filepath.Join(s.folder, "template"))
	if err == nil {
		err = json.Unmarshal(data, &tmpl)
	}
	if err != nil {
		return exitFault, fmt.Errorf("read the template: %w", err)
	}
	code, err := s.command(args, signals)
	if err != nil {
		return exitFault, err
	}
	if s.container != "main" {
		return code, nil
	}
	for _, p := range tmpl.Outputs.Parameters {
		if p.ValueFrom != nil && p.ValueFrom.Path != "" {
			if err := s.saveParameter(p.ValueFrom.Path); err != nil {
				return exitFault, err
			}
		}
	}
	return code, nil
}

func (s step) command(args []string, signals <-chan os.Signal) (int, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return exitFault, fmt.Errorf("failed to find name in PATH: %w", err)
	}
	cmd := exec.Command(path)
	cmd.Args = args
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.capture {
		stdout, err := s.open("stdout")
		if err != nil {
			return exitFault, err
		}
		defer stdout.Close()
		combined, err := s.open("combined")
		if err != nil {
			return exitFault, err
		}
		defer combined.Close()
		cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, stdout, combined), io.MultiWriter(os.Stderr, combined)
	}
	// A background process that keeps the output open must not keep the step from ending.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return exitFault, fmt.Errorf("failed to start command: %w", err)
	}
	exited := make(chan struct{})
	forwarded := make(chan struct{})
	go func() {
		defer close(forwarded)
		forward(signals, exited, cmd.Process.Pid)
	}()
	err = cmd.Wait()
	close(exited)
	<-forwarded
	if cmd.ProcessState == nil {
		return exitFault, err
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// forward passes signals on to the command's process group until it has exited.
func forward(signals <-chan os.Signal, exited <-chan struct{}, pid int) {
	for {
		select {
		case <-exited:
			return
		case sig := <-signals:
			n, ok := sig.(syscall.Signal)
			if !ok || n == syscall.SIGCHLD || n == syscall.SIGURG || n == syscall.SIGPIPE {
				continue
			}
			if err := syscall.Kill(-pid, n); err != nil && !errors.Is(err, syscall.ESRCH) {
				fmt.Fprintln(os.Stderr, "Error: forward signal:", err)
			}
		}
	}
}

func (s step) open(name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(s.dir(), name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
}

func (s step) saveParameter(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) { // it may have a default; whoever reports the outputs knows
		return nil
	}
	if err != nil {
		return fmt.Errorf("failed to read output parameter: %w", err)
	}
	to := filepath.Join(s.folder, "outputs", "parameters", strings.TrimPrefix(path, "/"))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// writeExitCode is the last thing that happens: its appearance says that all
// outputs are in place, so it must appear whole.
func (s step) writeExitCode(code int) error {
	path := filepath.Join(s.dir(), "exitcode")
	if err := os.WriteFile(path+".tmp", []byte(strconv.Itoa(code)), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
