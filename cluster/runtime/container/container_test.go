package container

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The tests of this file run argosy-podinit in namespaces like the node's
// sandbox. The test program itself makes them: it starts itself again, as an
// ordinary user where asked for, and a third time as the sandbox.
const (
	stageEnv = "ARGOSY_TEST_STAGE"
	nobody   = 65534
)

// programs that the tests run, built once.
var podinit, boxProgram string

func TestMain(m *testing.M) {
	switch os.Getenv(stageEnv) {
	case "user":
		os.Exit(enterSandbox())
	case "sandbox":
		os.Exit(inSandbox())
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "argosy-podinit")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		podinit, boxProgram = filepath.Join(dir, "argosy-podinit"), filepath.Join(dir, "box")
		build := exec.Command("go", "build", "-trimpath", "-o", dir, "../../cmd/argosy-podinit", "../../test/box")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
			return 1
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// request is what a test wants of a sandbox.
type request struct {
	Podinit string
	Spec    Spec
	Over    string // folder to be laid over the machine's
	Frozen  string // folder of the machine that becomes a read-only file system, with a file
}

// answer is how the container ended.
type answer struct {
	Fault  string // of the start
	Code   int
	Output string
}

// enterSandbox is the program's second life.
func enterSandbox() int {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), stageEnv+"=sandbox")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// inSandbox is its third: it runs one container.
func inSandbox() int {
	var req request
	a, err := func() (answer, error) {
		if err := json.NewDecoder(os.Stdin).Decode(&req); err != nil {
			return answer{}, err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return answer{}, err
		}
		if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			return answer{}, err
		}
		if err := os.MkdirAll(req.Spec.Scratch, 0o755); err != nil {
			return answer{}, err
		}
		if err := freeze(req.Frozen); err != nil {
			return answer{}, err
		}
		var err error
		if req.Spec.Layers, err = (Host{}).Layers(req.Spec.Scratch, slog.New(slog.DiscardHandler)); err != nil {
			return answer{}, err
		}
		req.Spec.FakeOwners = SingleID()
		if req.Over != "" {
			if err := req.Spec.LayOver(req.Over); err != nil {
				return answer{}, err
			}
		}
		return runPodinit(req)
	}()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func freeze(folder string) error {
	if folder == "" {
		return nil
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "file"), []byte("frozen\n"), 0o600); err != nil {
		return err
	}
	return unix.Mount("", folder, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}

func runPodinit(req request) (answer, error) {
	spec, err := os.CreateTemp("", "spec")
	if err != nil {
		return answer{}, err
	}
	defer os.Remove(spec.Name()) //nolint:errcheck // of a test
	if err := json.NewEncoder(spec).Encode(req.Spec); err != nil {
		return answer{}, err
	}
	status, theirs, err := StatusLine()
	if err != nil {
		return answer{}, err
	}
	var out bytes.Buffer
	cmd := exec.Command(req.Podinit, "run")
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.ExtraFiles = []*os.File{spec, theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	if err := cmd.Start(); err != nil {
		return answer{}, err
	}
	_ = theirs.Close()
	fault, err := Admit(status)
	if err != nil {
		return answer{}, err
	}
	_ = cmd.Wait() // its exit code is in the answer
	return answer{Fault: string(fault), Code: exitCode(cmd.ProcessState.Sys().(syscall.WaitStatus)), Output: out.String()}, nil
}

// everyone runs a test as each kind of user that this machine allows.
func everyone(t *testing.T, test func(t *testing.T, uid int)) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Run("root", func(t *testing.T) { t.Parallel(); test(t, 0) })
		t.Run("ordinary user", func(t *testing.T) { t.Parallel(); test(t, nobody) })
		return
	}
	t.Run("ordinary user", func(t *testing.T) { t.Parallel(); test(t, os.Geteuid()) })
}

// folder makes a folder that belongs to the user, outside of /tmp so that containers can see what lies beside it.
func folder(t *testing.T, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "argosy-test")
	require.NoError(t, err)
	t.Cleanup(func() {
		// Work folders of overlays have no permissions at all.
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
			if d.IsDir() { // never a symbolic link's target
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		require.NoError(t, os.RemoveAll(dir))
	})
	require.NoError(t, os.Chmod(dir, 0o755))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, uid, uid))
	}
	return dir
}

// runAs runs a container as the user.
func runAs(t *testing.T, uid int, spec Spec) answer {
	t.Helper()
	return runWith(t, uid, request{Spec: spec})
}

// runOver is runAs with a folder laid over the machine's.
func runOver(t *testing.T, uid int, spec Spec, over string) answer {
	t.Helper()
	return runWith(t, uid, request{Spec: spec, Over: over})
}

func runWith(t *testing.T, uid int, r request) answer {
	t.Helper()
	r.Podinit = podinit
	spec := &r.Spec
	if spec.Scratch == "" {
		spec.Scratch = filepath.Join(folder(t, uid), "scratch")
	}
	if spec.Env == nil {
		spec.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
	}
	req, err := json.Marshal(r)
	require.NoError(t, err)
	// /proc/self/exe can be run by a user who cannot reach the program's folder.
	self, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer self.Close()
	var out, fault bytes.Buffer
	cmd := exec.Command("/proc/self/fd/3")
	cmd.Args = []string{os.Args[0]}
	cmd.ExtraFiles = []*os.File{self}
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), stageEnv+"=user")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(req), &out, &fault
	if os.Geteuid() == 0 && uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	require.NoError(t, cmd.Run(), fault.String())
	var a answer
	require.NoError(t, json.Unmarshal(out.Bytes(), &a), out.String())
	return a
}

func id(n uint32) *uint32 { return &n }

func shell(script string) Process { return Process{Args: []string{"sh", "-c", script}} }

func TestContainerIsAlone(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		a := runAs(t, uid, Spec{Hostname: "box", Process: shell(`
echo pid $$ host $(hostname) uid $(id -u)
ls -A /tmp; ls /run; ls /dev/shm
ps -e -o pid= | wc -l
readlink /proc/self/ns/net >/dev/null && echo proc
echo x > /dev/null && head -c 4 /dev/urandom | wc -c
test -c /dev/pts/ptmx && echo terminals
touch /sys/x 2>/dev/null || echo sys is read-only
cat /proc/self/oom_score_adj`)})
		require.Empty(t, a.Fault)
		lines := strings.Split(strings.TrimSpace(a.Output), "\n")
		require.Equal(t, []string{"pid 1 host box uid 0", "lock", "sshd"}, lines[:3], a.Output)
		require.Contains(t, a.Output, "proc\n4\nterminals\nsys is read-only\n")
		require.Equal(t, "500", lines[len(lines)-1])
		require.Zero(t, a.Code)
	})
}

func TestNothingLeaksToTheHost(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		mark := fmt.Sprintf("argosy-leak-%d-%d", os.Getpid(), uid)
		places := []string{"/", "/etc", "/usr", "/var", "/tmp", "/run", "/root", "/opt", "/home", "/dev/shm", "/var/tmp"}
		var script strings.Builder
		for _, p := range places {
			fmt.Fprintf(&script, "echo x > %s && echo wrote %s\n", filepath.Join(p, mark), p)
		}
		a := runAs(t, uid, Spec{Process: shell(script.String())})
		for _, p := range places {
			require.Contains(t, a.Output, "wrote "+p+"\n")
			require.NoFileExists(t, filepath.Join(p, mark))
		}
	})
}

func TestHiddenFoldersAreEmptyButForWhatIsMounted(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		for _, place := range []string{"/var/tmp", "/tmp"} {
			home, err := os.MkdirTemp(place, "argosy-home")
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
			require.NoError(t, os.Chmod(home, 0o755))
			require.NoError(t, os.MkdirAll(filepath.Join(home, "shared"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(home, "shared", "repo"), []byte("code"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(home, "kubeconfig"), []byte("secret"), 0o644))
			shared := filepath.Join(home, "shared")
			a := runAs(t, uid, Spec{
				Hidden: []string{home}, Mounts: []Mount{{Source: shared, Target: shared, ReadOnly: true}},
				Process: shell("ls " + home + "; cat " + shared + "/repo; echo; touch " + shared + "/x 2>&1 | grep -o Read-only"),
			})
			require.Empty(t, a.Fault)
			require.Equal(t, "shared\ncode\nRead-only\n", a.Output)
		}
	})
}

func TestMountsAppearWhereverTheyAreWanted(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		dir := folder(t, uid)
		source := filepath.Join(dir, "volume")
		require.NoError(t, os.MkdirAll(source, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(source, "f"), []byte("in the volume\n"), 0o644))
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(source, uid, uid))
		}
		targets := []string{"/new", "/usr/lib/new/deep", "/var/run/argo", "/etc/mpi", "/root/.ssh", "/tmp/in/tmp", "/dev/shm", "/home/new/x", "/usr/local"}
		spec := Spec{Scratch: filepath.Join(dir, "scratch"), Process: shell("cd /some/new/dir && pwd; cat")}
		var script strings.Builder
		for _, target := range targets {
			spec.Mounts = append(spec.Mounts, Mount{Source: source, Target: target})
			fmt.Fprintf(&script, "cat %s/f; ", target)
		}
		spec.Mounts = append(spec.Mounts,
			Mount{Source: source, Target: "/new/inside/another"},
			Mount{Source: filepath.Join(source, "f"), Target: "/etc/new/file"},
			Mount{Source: filepath.Join(dir, "none"), Target: "/none", Optional: true})
		spec.Process = shell(script.String() + "cat /new/inside/another/f /etc/new/file; ls -d /none 2>/dev/null; pwd; ls /usr/lib | wc -l")
		spec.Dir = "/some/new/dir"
		a := runAs(t, uid, spec)
		require.Empty(t, a.Fault)
		require.Equal(t, len(targets)+2, strings.Count(a.Output, "in the volume\n"), a.Output)
		require.Contains(t, a.Output, "/some/new/dir\n")
		require.NotContains(t, a.Output, "/none")
		require.NotContains(t, a.Output, "\n1\n", "the host's files beside a mount are still there")
	})
}

func TestFilesReplaceTheHosts(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		for _, over := range []string{"", filepath.Join(folder(t, uid), "over")} {
			testFiles(t, uid, over)
		}
	})
}

func testFiles(t *testing.T, uid int, over string) {
	t.Helper()
	a := runOver(t, uid, Spec{
		Private: []string{"/etc/ssh"},
		Files: []File{
			{Path: "/etc/passwd", Mode: 0o644, Data: []byte("root:x:0:0::/root:/bin/sh\n")},
			{Path: "/etc/hosts", Link: "/run/hosts"},
			{Path: "/etc/resolv.conf", Mode: 0o644, Data: []byte("nameserver 10.88.0.1\n")},
			{Path: "/etc/ssh/key", Mode: 0o600, Data: []byte("k")},
		},
		Process: shell("cat /etc/passwd /etc/resolv.conf; readlink /etc/hosts; ls /etc/ssh; stat -c %a /etc/ssh/key; test -e /etc/nsswitch.conf && echo rest; " +
			"ls -A /root; stat -c %a /root /etc; echo x > /root/x && echo y > /etc/ssh/y && echo z > /etc/passwd && cat /root/x /etc/ssh/y /etc/passwd"),
	}, over)
	require.Empty(t, a.Fault)
	require.Equal(t, "root:x:0:0::/root:/bin/sh\nnameserver 10.88.0.1\n/run/hosts\nkey\n600\nrest\n755\n755\nx\ny\nz\n", a.Output)
}

func TestExitCodesAndSignals(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		require.Equal(t, 7, runAs(t, uid, Spec{Process: shell("exit 7")}).Code)
		require.Equal(t, 0, runAs(t, uid, Spec{Process: shell("kill -TERM $$")}).Code, "a first process never sees a signal that it does not handle")
		require.Equal(t, 143, runAs(t, uid, Spec{Process: shell("sh -c 'kill -TERM $$'; exit $?")}).Code)
	})
}

func TestAStartThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		for want, spec := range map[string]Spec{
			`exec: "no-such-program": executable file not found in $PATH`: {Process: Process{Args: []string{"no-such-program"}}},
			"no such file or directory":                                   {Process: Process{Args: []string{"/no/such/program"}}},
			"no command":                                                  {},
			"mount /v: open /not/there":                                   {Process: shell("true"), Mounts: []Mount{{Source: "/not/there", Target: "/v"}}},
		} {
			a := runAs(t, uid, spec)
			require.Contains(t, a.Fault, want)
			require.Equal(t, ExitNotStarted, a.Code)
		}
	})
}

func TestOwnersCanBeFaked(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		a := runAs(t, uid, Spec{Process: shell(`touch /f && chown 1:1 /f && chgrp 1 /f && echo owned; chmod 600 /f && stat -c %a /f; cat /proc/self/setgroups`)})
		require.Contains(t, a.Output, "owned\n600\n")
	})
}

func TestUserOfAContainer(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		a := runAs(t, os.Geteuid(), Spec{Process: Process{Args: []string{"id"}, User: &User{UID: 1000, GID: id(1000)}}})
		require.Contains(t, a.Fault, "run as", "a single id cannot become another")
		return
	}
	a := runAs(t, 0, Spec{Process: Process{Args: []string{"sh", "-c", "id -u; id -g; grep CapEff /proc/self/status"}, User: &User{UID: 1000, GID: id(1001)}}})
	require.Equal(t, "1000\n1001\nCapEff:\t0000000000000000\n", a.Output)
}

func TestPrivilegeIsGivenUp(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		const try = "mkdir /m && mount -t tmpfs t /m 2>/dev/null && echo mounted || echo refused"
		require.Equal(t, "refused\n", runAs(t, uid, Spec{Process: shell(try)}).Output)
		privileged := shell(try)
		privileged.Privileged = true
		require.Equal(t, "mounted\n", runAs(t, uid, Spec{Process: privileged}).Output)
	})
}

func TestWhatNobodyWritesToIsSeenAsItIs(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		frozen := folder(t, uid)
		look := Process{Args: []string{"sh", "-c", `stat -f -c %T "$1"; cat "$1/file"; touch "$1/new" 2>/dev/null || echo not written`, "-", frozen}}
		a := runWith(t, uid, request{Frozen: frozen, Spec: Spec{Process: look}})
		require.Equal(t, answer{Output: "tmpfs\nfrozen\nnot written\n"}, a)

		// With something of the container in it, it is a layer like any other.
		look.Dir = frozen + "/work"
		a = runWith(t, uid, request{Frozen: frozen, Spec: Spec{Process: look}})
		require.Equal(t, answer{Output: "overlayfs\nfrozen\n"}, a)
		source := folder(t, uid)
		require.NoError(t, os.WriteFile(filepath.Join(source, "mine"), []byte("mine\n"), 0o644))
		look = Process{Args: []string{"cat", frozen + "/file", frozen + "/a/volume/mine"}}
		a = runWith(t, uid, request{Frozen: frozen, Spec: Spec{Process: look, Mounts: []Mount{{Source: source, Target: frozen + "/a/volume"}}}})
		require.Equal(t, answer{Output: "frozen\nmine\n"}, a)
	})
}

func TestDevices(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		const look = `for d in null zero full random urandom tty; do stat -c '%n %F %t:%T %a' /dev/$d; done
head -c 3 /dev/zero | wc -c; echo lost > /dev/null; echo x > /dev/full 2>/dev/null || echo full; head -c 8 /dev/urandom | wc -c`
		a := runAs(t, uid, Spec{Process: Process{Args: []string{"sh", "-c", look}}})
		const device = " character special file "
		require.Equal(t, answer{Output: "/dev/null" + device + "1:3 666\n/dev/zero" + device + "1:5 666\n/dev/full" + device + "1:7 666\n/dev/random" +
			device + "1:8 666\n/dev/urandom" + device + "1:9 666\n/dev/tty" + device + "5:0 666\n3\nfull\n8\n"}, a)
	})
}
