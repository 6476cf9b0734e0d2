package compiler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// CompileDir builds the program of pipelines in the folder dir, a package main that calls Main, and lets it write
// its pipelines to out, as Main's -o says. Pipeline chooses one by name; empty means the only one. What the program
// prints on standard output goes to stdout. Relative paths, also those in messages, are relative to the working
// directory.
func CompileDir(ctx context.Context, dir, out, pipeline string, stdout io.Writer) error {
	args := []string{"-o", out}
	if pipeline != "" {
		args = append(args, "--pipeline", pipeline)
	}
	return RunDir(ctx, dir, args, stdout)
}

// RunDir builds the program of pipelines in the folder dir and runs it with the arguments, which are those of Main. The
// error is a *ProgramError when the program itself refuses.
func RunDir(ctx context.Context, dir string, args []string, stdout io.Writer) (err error) {
	o, err := parse(append([]string{dir}, args...), io.Discard)
	if err != nil {
		return &ProgramError{Code: exitUsage, Text: err.Error()}
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("compiling a pipeline needs the Go toolchain, and there is no go command on the PATH: see https://go.dev/doc/install")
	}
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("reading the pipeline program: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("%s is a file: give the folder that holds the pipeline program", dir)
	}
	tmp, err := os.MkdirTemp("", "argosy-compile-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	program := filepath.Join(tmp, "pipelines")
	if err := build(ctx, dir, program); err != nil {
		return err
	}
	before, _ := os.Stat(o.out) // no file yet is as good an answer
	if err := runProgram(ctx, dir, program, args, stdout); err != nil || o.out == "" || o.out == "-" || o.dryRun || folder(o.out) {
		return err
	}
	after, err := os.Stat(o.out)
	if err != nil || before != nil && os.SameFile(before, after) {
		return fmt.Errorf("the program in %s wrote no pipeline: its main must call compiler.Main", dir)
	}
	return nil
}

// ProgramError is the refusal of a program of pipelines. Its text is what the program said.
type ProgramError struct {
	Code int // its exit code, as Main's
	Text string
}

func (e *ProgramError) Error() string { return e.Text }

// runProgram runs the program. Its faults are already written for people.
func runProgram(ctx context.Context, dir, program string, args []string, stdout io.Writer) error {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	err := cmd.Run()
	switch text := strings.TrimSpace(stderr.String()); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case text == "":
		return fmt.Errorf("the program in %s ended with %w and said nothing", dir, err)
	default:
		return &ProgramError{Code: cmd.ProcessState.ExitCode(), Text: text}
	}
}

func build(ctx context.Context, dir, program string) error {
	name, err := goCommand(ctx, dir, nil, "list", "-f", "{{.Name}}", ".")
	if err != nil {
		return err
	}
	if name = strings.TrimSpace(name); name != "main" {
		return fmt.Errorf("%s is package %s: a pipeline program is a package main that calls compiler.Main", dir, name)
	}
	// As releases of this module are built, which have left most of what a program needs in Go's cache.
	_, err = goCommand(ctx, dir, nil, "build", "-trimpath", "-o", program, ".")
	return err
}

// BuildForImage builds the program of pipelines in the folder dir for a container image of an architecture, such as amd64,
// and writes it to file. The same source gives the same bytes. It is linked statically unless CGO_ENABLED is set, since an
// image need not have any library.
func BuildForImage(ctx context.Context, dir, file, architecture string) error {
	env := append(os.Environ(), "GOOS=linux", "GOARCH="+architecture)
	if os.Getenv("CGO_ENABLED") == "" {
		env = append(env, "CGO_ENABLED=0")
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	_, err = goCommand(ctx, dir, env, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", absolute, ".")
	return err
}

// goCommand runs the go command in dir and returns its output, or an error that names the files as seen from here. Nil for
// env is this process's environment.
func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return stdout.String(), nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	text := strings.TrimSpace(stderr.String())
	switch {
	case text == "":
		return "", fmt.Errorf("go %s in %s: %w", args[0], dir, err)
	case strings.Contains(text, "go.mod file not found"), strings.Contains(text, "cannot find main module"):
		return "", fmt.Errorf("%s is in no Go module: run there\n\tgo mod init pipelines\n\tgo get %s", dir, modulePath)
	}
	return "", errors.New(seenFromHere(text, dir))
}

const modulePath = "github.com/argosy-ml/argosy"

var (
	position    = regexp.MustCompile(`(?m)^[^\s:]+\.go:\d+`)
	packageLine = regexp.MustCompile(`(?m)^# .*\n`)
)

// seenFromHere makes the go command's messages name files relative to the working directory.
func seenFromHere(text, dir string) string {
	text = packageLine.ReplaceAllString(text, "")
	return position.ReplaceAllStringFunc(text, func(s string) string {
		if filepath.IsAbs(s) {
			return s
		}
		return filepath.Join(dir, s)
	})
}
