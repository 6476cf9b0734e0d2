package emissary

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newStep(t *testing.T, template string) step {
	t.Helper()
	s := step{folder: t.TempDir(), container: "main"}
	require.NoError(t, os.WriteFile(filepath.Join(s.folder, "template"), []byte(template), 0o600))
	return s
}

// Signals and the umask belong to the whole process, so these tests run one after the other.

func TestRunLeavesTheExitCodeOfTheCommand(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"success":   {[]string{"sh", "-c", "exit 0"}, 0},
		"failure":   {[]string{"sh", "-c", "exit 7"}, 7},
		"killed":    {[]string{"sh", "-c", "kill -9 $$"}, 137},
		"not there": {[]string{"/no/such/program"}, ExitFault},
		"nothing":   {nil, ExitFault},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStep(t, `{}`)
			code, _ := s.run(c.args)
			require.Equal(t, c.want, code)
			text, err := os.ReadFile(filepath.Join(s.dir(), "exitcode"))
			require.NoError(t, err)
			require.NotEmpty(t, text)
		})
	}
}

func TestAPlainStepNeedsNoTemplate(t *testing.T) {
	s := step{folder: t.TempDir(), container: "main", plain: true}
	code, err := s.run([]string{"sh", "-c", "exit 7"})
	require.NoError(t, err)
	require.Equal(t, 7, code)
	text, err := os.ReadFile(filepath.Join(s.dir(), "exitcode"))
	require.NoError(t, err)
	require.Equal(t, "7", string(text))
}

// What a step makes is not for everybody to write. What the emissary makes is: other containers of the pod may run as other users.
func TestTheCommandGetsItsOwnUmask(t *testing.T) {
	before := syscall.Umask(0o022)
	defer syscall.Umask(before)
	s := newStep(t, `{}`)
	s.capture = true
	made := filepath.Join(s.folder, "made")
	code, err := s.run([]string{"sh", "-c", "touch " + made})
	require.NoError(t, err)
	require.Zero(t, code)
	for path, mode := range map[string]os.FileMode{made: 0o644, filepath.Join(s.dir(), "stdout"): 0o666, s.dir(): 0o777} {
		fi, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, fi.Mode().Perm(), path)
	}
}

func TestTheCommandGetsItsOwnEnvironment(t *testing.T) {
	for _, own := range [][]string{{"A=1"}, {"GOMAXPROCS=7", "A=1"}} {
		t.Setenv("GOMAXPROCS", "as of the tests")
		t.Setenv(ownProcessors, "")
		require.NoError(t, os.Unsetenv(ownProcessors))
		small := Small(own)
		require.Contains(t, small, "GOMAXPROCS=1")
		for _, e := range small {
			name, value, _ := strings.Cut(e, "=")
			t.Setenv(name, value)
		}
		require.NoError(t, unshrink())
		value, has := os.LookupEnv("GOMAXPROCS")
		require.Equal(t, len(own) > 1, has)
		if has {
			require.Equal(t, "7", value)
		}
		_, has = os.LookupEnv(ownProcessors)
		require.False(t, has)
	}
}

func TestRunSavesOutputParameters(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	s := newStep(t, `{"outputs":{"parameters":[{"name":"a","valueFrom":{"path":"`+out+`"}},{"name":"b","valueFrom":{"path":"/not/written"}},{"name":"c"}]}}`)
	code, err := s.run([]string{"sh", "-c", "printf 42 > " + out})
	require.NoError(t, err)
	require.Zero(t, code)
	saved, err := os.ReadFile(filepath.Join(s.folder, "outputs/parameters", out))
	require.NoError(t, err)
	require.Equal(t, "42", string(saved))
	require.NoFileExists(t, filepath.Join(s.folder, "outputs/parameters/not/written"))
}

func TestRunSavesNothingForOtherContainers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	s := newStep(t, `{"outputs":{"parameters":[{"name":"a","valueFrom":{"path":"`+out+`"}}]}}`)
	s.container = "sidecar"
	_, err := s.run([]string{"sh", "-c", "printf 42 > " + out})
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(s.folder, "outputs"))
}

func TestRunCapturesOutput(t *testing.T) {
	s := newStep(t, `{}`)
	s.capture = true
	_, err := s.run([]string{"sh", "-c", "echo out; echo err >&2"})
	require.NoError(t, err)
	stdout, err := os.ReadFile(filepath.Join(s.dir(), "stdout"))
	require.NoError(t, err)
	require.Equal(t, "out\n", string(stdout))
	combined, err := os.ReadFile(filepath.Join(s.dir(), "combined"))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"out", "err"}, strings.Fields(string(combined)))
}

func TestRunForwardsSignals(t *testing.T) {
	s := newStep(t, `{}`)
	ready := filepath.Join(t.TempDir(), "ready")
	type end struct {
		code int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		code, err := s.run([]string{"sh", "-c", `trap 'exit 5' TERM; touch ` + ready + `; while :; do sleep 0.01; done`})
		ended <- end{code, err}
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(ready); return err == nil }, 5*time.Minute, 5*time.Millisecond)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	e := <-ended
	require.NoError(t, e.err)
	require.Equal(t, 5, e.code)
}

func TestRunIsNotHeldUpByABackgroundProcess(t *testing.T) {
	s := newStep(t, `{}`)
	s.capture = true
	code, err := s.run([]string{"sh", "-c", "sleep 1000 & echo $!"})
	require.NoError(t, err)
	require.Zero(t, code)
	said, err := os.ReadFile(filepath.Join(s.dir(), "stdout"))
	require.NoError(t, err)
	background, err := strconv.Atoi(strings.TrimSpace(string(said)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(background, syscall.SIGKILL), "it goes on")
}

func TestRunSaysWhatIsWrongWithTheTemplate(t *testing.T) {
	s := newStep(t, `{`)
	_, err := s.run([]string{"true"})
	require.ErrorContains(t, err, "read template")
}

// A container of a set that is to end does not try again, whether its command still runs or waits for its next try.
func TestRunEndsBetweenTwoTries(t *testing.T) {
	for name, command := range map[string]string{"while it runs": "while :; do sleep 0.01; done", "while it waits": "exit 3"} {
		t.Run(name, func(t *testing.T) {
			s := newStep(t, `{"containerSet":{"containers":[{"name":"main"}],"retryStrategy":{"retries":2,"duration":"1h"}}}`)
			tried := filepath.Join(t.TempDir(), "tried")
			code := make(chan int, 1)
			go func() {
				n, _ := s.run([]string{"sh", "-c", "echo $$ >> " + tried + "; " + command})
				code <- n
			}()
			var pid string
			require.Eventually(t, func() bool {
				b, _ := os.ReadFile(tried)
				pid = strings.TrimSpace(string(b))
				_, err := os.Stat("/proc/" + pid)
				return pid != "" && (command != "exit 3" || err != nil)
			}, 5*time.Minute, 5*time.Millisecond)
			require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
			require.Contains(t, []int{143, 3}, <-code) // 3 if the signal arrives as it ends
			b, err := os.ReadFile(tried)
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(string(b), "\n"))
		})
	}
}
