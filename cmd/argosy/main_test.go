package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/command"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"argosy": func() {
		command.CompletionTime = 5 * time.Minute // the server of a slow machine answers late
		main()
	}})
}

// TestScripts runs the command as users do, in processes of its own, against a real server (`argosy server`) whose cluster
// is not there: what needs one is tested end to end.
func TestScripts(t *testing.T) {
	t.Parallel()
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	toolchain := goEnv(t, "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, toolchain...)
			argosy, err := exec.LookPath("argosy") // testscript.Main put it there
			if err != nil {
				return err
			}
			e.Setenv("ARGOSY", argosy)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("REPOSITORY", repository)
			e.Setenv("GOTOOLCHAIN", "local")
			for _, v := range []string{"ARGOSY_URL", "ARGOSY_HOME", "ARGOSY_HTTP", "ARGOSY_GRPC", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
				e.Setenv(v, "")
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "serve": serve},
	})
}

// exits runs a command and checks its exit code: `exits 2 argosy nonsense`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	err = ts.Exec(args[1], args[2:]...)
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// serve starts `argosy server` on a folder for the rest of the script and sets ARGOSY_URL, SERVER_ADDRESS and SERVER_PID: `serve FOLDER`.
// At the end the server must stop cleanly at SIGTERM.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: serve FOLDER")
	}
	path, err := exec.LookPath("argosy")
	ts.Check(err)
	cmd := exec.Command(path, "server", "--home", ts.MkAbs(args[0]), "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0",
		"--kubeconfig", ts.MkAbs("kubeconfig"), "--s3", "127.0.0.1:1", "--log-level", "ERROR")
	cmd.Env = append(os.Environ(), "ARGOSY_S3_ACCESS_KEY=key", "ARGOSY_S3_SECRET_KEY=secret")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	url, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ready {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		ts.Fatalf("argosy server said %q\n%s", line, errs.String())
	}
	ts.Setenv("ARGOSY_URL", url)
	ts.Setenv("SERVER_ADDRESS", strings.TrimPrefix(url, "http://"))
	ts.Setenv("SERVER_PID", strconv.Itoa(cmd.Process.Pid))
	ts.Defer(func() {
		ts.Check(cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err != nil {
			ts.Logf("argosy server ended with %v\n%s", err, errs.String())
			ts.Check(err)
		}
	})
}

// goEnv gives the settings of the Go toolchain that scripts need to compile pipelines.
func goEnv(t *testing.T, names ...string) []string {
	t.Helper()
	var vars []string
	for _, name := range names {
		out, err := exec.Command("go", "env", name).Output()
		require.NoError(t, err)
		vars = append(vars, name+"="+strings.TrimSpace(string(out)))
	}
	return vars
}
