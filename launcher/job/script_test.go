package job

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// runScript runs the launcher's script as a pod does.
func runScript(t *testing.T, command string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", launcherScript, "sh", command)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestLauncherScript(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command, out string
		code         int
	}{
		{"echo hello", "hello\n", 0},
		{"exit 7", "", 7},
		{"\n    printf '%s' \"it's $0 a\"\\\n b\n    ", "it's sh ab", 0},
		{"sh -c 'exit 3'; echo after; exit 4", "after\n", 4},
	} {
		out, code := runScript(t, tc.command)
		require.Equal(t, tc.code, code, tc.command)
		require.Equal(t, tc.out, out, tc.command)
	}
	_, code := runScript(t, "kill -9 $$") // shells say something about it, each its own
	require.Equal(t, 137, code)
}

// The command runs once every worker lets the launcher in.
func TestLauncherScriptWaitsForTheWorkers(t *testing.T) {
	t.Parallel()
	out, code := runScriptWith(t, "w-0.job.ns.svc slots=2\nw-1.job.ns.svc:2\n", endless)
	require.Zero(t, code, out)
	require.Equal(t, "argosy: mpirun (Open MPI) 4.1.4\nasked w-0.job.ns.svc\nasked w-1.job.ns.svc\nthe command\n", out)
}

// Open MPI 5 is asked by options for what earlier versions take from variables.
func TestLauncherScriptAsksOpenMPI5(t *testing.T) {
	t.Parallel()
	const hosts = "w-0.job.ns.svc slots=2\n"
	for version, tc := range map[string]struct{ command, asked string }{
		"4.1.4":  {"mpirun -np 2 train", "-np 2 train"},
		"5.0.5":  {"mpirun -np 2 train '$x y'", "--display map --output tag -np 2 train $x y"},
		"10.0.0": {"mpirun train", "--display map --output tag train"},
		"5.0.6":  {"mpirun --output file=x train", "--output file=x train"},
	} {
		out, code := runScriptOf(t, version, tc.command, hosts, endless)
		require.Zero(t, code, out)
		require.Contains(t, out, "ran: "+tc.asked+"\n", version)
	}
}

// What measures the bandwidth runs before the command, with an mpirun of the image's own; its failure is not the job's.
func TestLauncherScriptMeasuresFirst(t *testing.T) {
	t.Parallel()
	out, code := runScriptOf(t, "5.0.5", "echo the command; mpirun train", "w-0.job.ns.svc slots=2\n", endless, "sh", "1", "", "sh", "-c", `mpirun "$1" $2; exit 3`, "probe", "a b", "c")
	require.Zero(t, code, out)
	require.Equal(t, "argosy: mpirun (Open MPI) 5.0.5\nran: a b c\nthe command\nran: --display map --output tag train\n", out)
}

// MPICH's mpirun gets its hosts and ssh by variables, and options for tags. It tells where ranks are to run before it starts them.
func TestLauncherScriptAsksHydra(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hosts := filepath.Join(dir, "hosts")
	require.NoError(t, os.WriteFile(hosts, []byte("w-0.job.ns.svc slots=2\nw-1.job.ns.svc slots=2\n"), 0o600))
	writeProgram(t, filepath.Join(dir, "ssh"), `echo "ssh: $*" >>"$DIR/asked"`)
	writeProgram(t, filepath.Join(dir, "hostname"), `echo "10.0.0.7 fd00::7"`)
	writeProgram(t, filepath.Join(dir, "mpirun"), `case $1 in
--version) printf "HYDRA build details:\n    Version:                                 $VERSION\n    Configure options:    '--with-device=ch4:ucx'\n" ;;
-verbose) # its words with the launcher "manual", which waits for ever
  echo "Proxy information:"
  echo "      [1] proxy: w-0.job.ns.svc (2 cores)"; echo "      Exec list: train (1 processes); watch (1 processes); "
  echo "      [2] proxy: w-1.job.ns.svc (2 cores)"; echo "      Exec list: train (2 processes); "
  echo "HYDRA_LAUNCH: hydra_pmi_proxy"
  exec sleep 1000 ;;
*) cat "$HYDRA_HOST_FILE"; : >"$DIR/asked"; "$HYDRA_LAUNCHER_EXEC" -x w-0 proxy; cat "$DIR/asked"; echo "ran: $*" ;;
esac`)
	runWith := func(version, command string) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", launcherScript, "sh", command, endless)
		cmd.Env = append(os.Environ(), "VERSION="+version, "DIR="+dir, "TMPDIR="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "OMPI_MCA_plm_rsh_agent="+dir+"/ssh -q", "PRTE_MCA_prte_default_hostfile="+hosts)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	run := func(command string) string { return runWith("4.2.0", command) }
	const begins = "argosy: mpirun (Hydra) 4.2.0\n"
	const goesOn = "w-0.job.ns.svc:2\nw-1.job.ns.svc:2\nssh: -q -x w-0 proxy\n"
	require.Equal(t, begins+"argosy: mpirun places ranks: 2 on w-0.job.ns.svc, 2 on w-1.job.ns.svc\n"+goesOn+"ran: -localhost 10.0.0.7 -prepend-pattern [1,%r]<stdout>: -n 4 train $x y\n",
		run("mpirun -n 4 train '$x y'"))
	require.Equal(t, begins+goesOn+"ran: -localhost 10.0.0.7 -prepend-rank train\n", run("mpirun -prepend-rank train"))
	require.Equal(t, begins+dir+"/ssh\n", run("command -v ssh"), "its ssh is for Hydra alone")
	const warning = "argosy: ranks on several workers may hang in MPI_Finalize: this MPICH is older than 4.2 and uses UCX. Use MPICH 4.2, or set a silence timeout\n"
	for _, old := range []string{"4.0.2", "4.1.2"} {
		require.Contains(t, runWith(old, "mpirun train"), "2 on w-1.job.ns.svc\n"+warning)
		require.NotContains(t, runWith(old, "true"), warning, "a command without MPICH has nothing to fear")
	}
	require.NotContains(t, runWith("4.3.1", "mpirun train"), warning)
}

func TestLauncherScriptNamesTheWorkerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	out, code := runScriptWith(t, "w-0.job.ns.svc slots=2\ndeaf.job.ns.svc slots=2\n", "1")
	require.Equal(t, 1, code)
	require.Contains(t, out, "argosy: the worker deaf.job.ns.svc did not answer within 1 s, giving up: Connection refused\n")
	require.NotContains(t, out, "the command")
}

// Variables and mounts that the step asked for are looked for in a session of each worker's sshd.
func TestLauncherScriptMissesVariablesAndMounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("/proc", link))
	ssh, hosts := filepath.Join(dir, "ssh"), filepath.Join(dir, "hostfile")
	require.NoError(t, os.WriteFile(hosts, []byte("w-0.job.ns.svc slots=2\nw-1.job.ns.svc:2\nw-2 slots=2\n"), 0o600))
	writeProgram(t, ssh, `for last; do before=$host host=$last; done
echo "Welcome to $before"
case $before in w-0*) export C=3 ;; w-1*) unset B ;; *) export C= B=lost ;; esac
exec sh -c "$last"`)
	run := func(asked string) (string, int) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", launcherScript, "sh", "echo the command", endless, "sh", "2", asked)
		cmd.Env = append(os.Environ(), "B=2 and\nmore", "TMPDIR="+dir, "OMPI_MCA_plm_rsh_agent="+ssh, "PRTE_MCA_prte_default_hostfile="+hosts)
		out, err := cmd.CombinedOutput()
		require.NotNil(t, cmd.ProcessState, "%v", err)
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run("'/proc' '" + link + "' PATH")
	require.Zero(t, code, out)
	require.Contains(t, out, "the command\n")
	lacks := func(asked string) string {
		out, code := run(asked)
		require.Equal(t, 1, code)
		require.NotContains(t, out, "the command")
		require.NotContains(t, out, "2 and", "values may be secret")
		return out
	}
	const advice = ". Look for a webhook that changes its pod and a start-up file of its shell; shells drop names with a dot or a dash\n"
	require.Contains(t, lacks("'/proc' '"+dir+"' '/none of '\\''ours' PATH B"), "argosy: the worker w-0.job.ns.svc (ranks 0-1) lacks what the step asked for: the mount "+dir+", the mount /none of 'ours"+advice)
	require.Contains(t, lacks("'/proc' PATH B C"), "argosy: the worker w-1.job.ns.svc (ranks 2-3) lacks what the step asked for: the variable B, the variable C"+advice)
}

// endless is the patience of a script whose clock stands still.
const endless = ""

// runScriptWith runs the script with a hostfile and an ssh that fails twice for each worker
// and always for the worker named deaf.
func runScriptWith(t *testing.T, hostfile, patience string) (string, int) {
	t.Helper()
	return runScriptOf(t, "4.1.4", "sort $DIR/asked; echo the command", hostfile, patience)
}

// runScriptOf does so with a version of mpirun that prints its arguments.
func runScriptOf(t *testing.T, version, command, hostfile, patience string, more ...string) (string, int) {
	t.Helper()
	dir := t.TempDir()
	ssh, hosts := filepath.Join(dir, "ssh"), filepath.Join(dir, "hostfile")
	require.NoError(t, os.WriteFile(hosts, []byte(hostfile), 0o600))
	writeProgram(t, ssh, `for last; do before=$host host=$last; done
host=$before
echo >>"$DIR/$host"
case $host in deaf*) echo "Connection refused"; exit 255;; esac
if [ "$(wc -l <"$DIR/$host")" -le 2 ]; then echo "Connection refused"; exit 255; fi
echo "asked $host" >>"$DIR/asked"`)
	writeProgram(t, filepath.Join(dir, "mpirun"), "if [ \"$1\" = --version ]; then printf 'mpirun (Open MPI) "+version+"\\n\\nReport bugs\\n'; else echo \"ran: $*\"; fi")
	if patience == endless {
		writeProgram(t, filepath.Join(dir, "date"), "echo 0")
	}
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", launcherScript, "sh", command, patience}, more...)...)
	cmd.Env = append(os.Environ(), "DIR="+dir, "TMPDIR="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "OMPI_MCA_plm_rsh_agent="+ssh+" -q", "PRTE_MCA_prte_default_hostfile="+hosts)
	out, err := cmd.CombinedOutput()
	require.NotNil(t, cmd.ProcessState, "%v", err)
	return string(out), cmd.ProcessState.ExitCode()
}

// writeProgram writes a script that can be executed. No process is forked meanwhile: for a moment it would have the file open for
// writing as well, and the kernel does not execute such a file.
func writeProgram(t *testing.T, file, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
}

// A signal to the script reaches the command, and the command's end is awaited.
func TestLauncherScriptPassesSignals(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		`trap 'echo saving; exit 9' TERM; echo up; while :; do sleep 0.05; done`,                                        // the command itself
		"sh -c 'trap \"echo saving; exit 9\" TERM; echo up; while :; do sleep 0.05; done'",                              // a single program, as mpirun is
		"trap 'wait' TERM\nsh -c 'trap \"echo saving; exit 9\" TERM; echo up; while :; do sleep 0.05; done' &\nwait $!", // one that it started
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", launcherScript, "sh", command)
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		require.True(t, lines.Scan())
		require.Equal(t, "up", lines.Text())
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.True(t, lines.Scan(), command)
		require.Equal(t, "saving", lines.Text())
		for lines.Scan() {
			t.Log(lines.Text())
		}
		require.Error(t, cmd.Wait())
	}
}

// A worker that is stopped ends then, not when its grace period has passed: while it makes its key, while sshd cannot hear
// signals yet, and with the code of an sshd that does.
func TestWorkerScriptEndsOnSignal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		keygen, sshd string
		code         int
	}{
		"making a key":    {"echo up; read -r _", "exit 1", 143},
		"sshd is young":   {"true", "echo up; exec sleep 60", 143},
		"sshd is stopped": {"true", "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done", 7},
		"at once":         {"true", "trap 'exit 7' TERM; echo up; kill -TERM $PPID; while :; do sleep 0.05; done", 7}, // while sshd is not waited for yet
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for program, script := range map[string]string{"ssh-keygen": tc.keygen, "sshd": tc.sshd} {
				writeProgram(t, filepath.Join(dir, program), script)
			}
			script := strings.NewReplacer("/usr/sbin/sshd", dir+"/sshd", "/tmp/.argosy-sshd", dir+"/own", "/var/run/sshd", dir+"/run", "/run/sshd", dir+"/run",
				"/etc/ssh/", dir+"/none/").Replace(workerScript)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
			cmd.Env, cmd.Stderr = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH")), os.Stderr
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(stdout)
			require.True(t, lines.Scan())
			require.Equal(t, "up", lines.Text())
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			require.NoError(t, stdin.Close())
			require.Error(t, cmd.Wait())
			require.Equal(t, tc.code, cmd.ProcessState.ExitCode())
		})
	}
}

// Kubernetes takes $( and $$ in commands for its own.
func TestScriptsNeedNoEscape(t *testing.T) {
	t.Parallel()
	for _, script := range []string{launcherScript, workerScript} {
		require.NotContains(t, script, "$(")
		require.NotContains(t, script, "$$")
		require.NoError(t, exec.CommandContext(t.Context(), "sh", "-n", "-c", script).Run())
	}
	require.Equal(t, "$$$$ $$(A) $$1", verbatim("$$ $(A) $1"))
	require.Equal(t, "$1 ${B}", verbatim("$1 ${B}"))
	require.False(t, strings.Contains(verbatim("$(A)"), " "))
}
