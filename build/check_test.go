// Package build tests check.sh, which says what a machine lacks before anything is built.
package build

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine is what check.sh sees: programs, which are functions of the shell, files, and the environment.
type machine struct {
	programs map[string]string
	files    map[string]string
	env      map[string]string
}

// healthy is a machine on which there is nothing to say to an ordinary user.
func healthy() machine {
	m := machine{
		programs: map[string]string{
			"uname":   `case $1 in -s) echo Linux ;; -m) echo x86_64 ;; -r) echo 6.1.0-18-amd64 ;; esac`,
			"id":      `echo 1000`,
			"go":      `case $* in version) echo go version go1.99.1 linux/amd64 ;; "env GOCACHE") echo /cache ;; *) echo /modules ;; esac`,
			"node":    `echo v20.19.0`,
			"df":      `printf 'Filesystem 1024-blocks Used Available Capacity Mounted\n/dev/vda 1 1 20000000 1%% /my disk\n'`,
			"du":      `echo 0 total`,
			"unshare": `return 0`,
		},
		files: map[string]string{
			"proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\nSwapFree: 0 kB\n",
			"proc/sys/kernel/unprivileged_userns_clone":             "1\n",
			"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "0\n",
			"proc/sys/user/max_user_namespaces":                     "63000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":            "9223372036854771712\n",
			"usr/lib/postgresql/15/bin/initdb":                      "",
			"usr/share/fonts/truetype/wqy/wqy-microhei.ttc":         "",
		},
		env: map[string]string{"ARGOSY_HTTP": "127.0.0.1:0", "ARGOSY_GRPC": "[::1]:0"},
	}
	for _, name := range []string{
		"gcc", "npm", "git", "make", "apt-get", "sudo", "mpirun", "sshd", "ssh-keygen", "ip", "newuidmap", "python",
		"chromium", "firefox-esr", "kubectl", "rsync", "mpirun.mpich", "nslookup", "qemu-system-x86_64",
	} {
		m.programs[name] = "return 0"
	}
	return m
}

// check runs check.sh on the machine, in a tree without anything built.
func (m machine) check(t *testing.T, goal string) (code int, says string) {
	t.Helper()
	root := t.TempDir()
	self, err := os.Getwd()
	require.NoError(t, err)
	link := func(target, name string) {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.Symlink(target, path))
	}
	link(self, "tree/build")
	link(filepath.Join(self, "../go.mod"), "tree/go.mod")
	link(filepath.Join(self, "../cluster/go.mod"), "tree/cluster/go.mod")
	for _, tool := range []string{"awk", "bash", "dirname", "env", "head", "sed", "sort"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		link(path, "usr/bin/"+tool)
	}
	link("/bin/true", "usr/bin/python3") // it finds every module
	for name, content := range m.files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	}
	cmd := exec.Command(filepath.Join(root, "usr/bin/bash"), filepath.Join(root, "tree/build/check.sh"), goal)
	cmd.Env = []string{"PATH=" + filepath.Join(root, "usr/bin"), "CHECK_ROOT=" + root, "HOME=" + root}
	for name, value := range m.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	for name, body := range m.programs {
		cmd.Env = append(cmd.Env, fmt.Sprintf("BASH_FUNC_%s%%%%=() { %s\n}", name, body))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		failed := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &failed)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestNothingMissing(t *testing.T) {
	t.Parallel()
	for _, goal := range []string{"build", "run", "test"} {
		code, says := healthy().check(t, goal)
		require.Zero(t, code, says)
		require.Empty(t, says)
	}
}

// without takes programs away.
func without(names ...string) func(machine) {
	return func(m machine) {
		maps.DeleteFunc(m.programs, func(name, _ string) bool { return slices.Contains(names, name) })
	}
}

func program(name, body string) func(machine) { return func(m machine) { m.programs[name] = body } }

func file(name, content string) func(machine) { return func(m machine) { m.files[name] = content } }

func refused(name, value string) func(machine) {
	return func(m machine) { m.programs["unshare"], m.files["proc/sys/"+name] = "return 1", value }
}

// Each fault is one sentence, which says what is wrong and how to mend it. Errors end make, warnings do not.
func TestFaults(t *testing.T) {
	t.Parallel()
	const namespaces = "error: the kernel refuses user namespaces to ordinary users, in which pods run: "
	for name, c := range map[string]struct {
		goal   string
		change func(machine)
		says   string
	}{
		"macOS": {
			"run", program("uname", "echo Darwin"),
			"error: the embedded cluster needs the namespaces of Linux, which Darwin does not have: use a Linux virtual machine (WSL 2, Lima, Multipass), or build the command alone (go build ./cmd/argosy) and run argosy server on a cluster you have",
		},
		"32 bits": {
			"build", program("uname", `case $1 in -s) echo Linux ;; -m) echo armv7l ;; -r) echo 6.1.0 ;; esac`),
			"error: Argosy is made for x86_64 and aarch64, and this machine is armv7l: use another machine",
		},
		"old kernel": {
			"run", program("uname", `case $1 in -s) echo Linux ;; -m) echo aarch64 ;; -r) echo 5.4.0-100-generic ;; esac`),
			"error: Linux 5.4.0-100-generic is too old; the cluster needs 5.6 or newer: use a newer kernel, or a newer release of this system",
		},
		"no Go":       {"build", without("go"), "error: there is no go on the PATH, which compiles Argosy: install Go 1.26.0 or newer (https://go.dev/doc/install)"},
		"old Go":      {"run", program("go", `[ "$1" != version ] || echo go version go1.24.4 linux/amd64`), "error: Go 1.24.4 is too old; Argosy needs 1.26.0 or newer: install it (https://go.dev/doc/install), or let yours fetch it (GOTOOLCHAIN=auto make run)"},
		"very old Go": {"run", program("go", `[ "$1" != version ] || echo go version go1.9.2 linux/amd64`), "error: Go 1.9.2 is too old; Argosy needs 1.26.0 or newer: install it (https://go.dev/doc/install)"},
		"no gcc":      {"build", without("gcc"), "error: there is no gcc, which compiles SQLite: sudo apt-get install -y gcc libc6-dev"},
		"no clang":    {"build", func(m machine) { m.env["CC"] = "clang" }, "error: there is no clang, which compiles SQLite: sudo apt-get install -y gcc libc6-dev"},
		"no headers":  {"build", program("gcc", "return 1"), "error: gcc does not find the headers of the C library: sudo apt-get install -y libc6-dev"},
		"no Node":     {"build", without("node"), "error: there is no node on the PATH, which builds the UI: install Node 20.19 or newer (https://nodejs.org/en/download)"},
		"old Node":    {"build", program("node", "echo v18.20.4"), "error: Node 18.20.4 is too old; the UI needs 20.19 or newer: install it (https://nodejs.org/en/download)"},
		"no npm":      {"build", without("npm"), "error: there is no npm on the PATH, which fetches the UI's packages: sudo apt-get install -y npm"},
		"no git":      {"build", without("git"), "error: there is no git, which fetches the code of jobs: sudo apt-get install -y git"},
		"no make":     {"build", without("make"), "error: there is no make: sudo apt-get install -y make"},
		"no apt":      {"build", without("apt-get", "git"), "error: there is no git, which fetches the code of jobs: install it with your package manager (in Debian: git)"},
		"1 GiB":       {"build", file("proc/meminfo", "MemAvailable: 700000 kB\nSwapFree: 100000 kB\n"), "error: 781 MiB of memory are free, and the build takes 1.0 GiB: end what holds it (ps aux --sort -rss | head), or add swap"},
		"1 GiB, built": {"run", func(m machine) {
			file("proc/meminfo", "MemAvailable: 600000 kB\n")(m)
			file("tree/bin/argosy-controlplane", "")(m)
		}, "error: 585 MiB of memory are free, and the cluster takes 700 MiB: end what holds it (ps aux --sort -rss | head), or add swap"},
		"a container":   {"build", file("sys/fs/cgroup/memory.max", "536870912\n"), "error: 512 MiB of memory are free, and the build takes 1.0 GiB: end what holds it (ps aux --sort -rss | head), or add swap"},
		"2 GiB":         {"build", file("proc/meminfo", "MemAvailable: 1900000 kB\n"), "warning: 1.8 GiB of memory are free: a first build is slow with that, and little is left for jobs"},
		"full disk":     {"run", program("df", `printf 'x\n/dev/vda 1 1 3000000 99%% /my disk\n'`), "error: 2.8 GiB are free on /my disk, where 10.6 GiB will be written: make room, or put Go's caches on another disk (GOCACHE=FOLDER GOMODCACHE=FOLDER make run)"},
		"AppArmor":      {"run", refused("kernel/apparmor_restrict_unprivileged_userns", "1"), namespaces + "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or run as root"},
		"Debian's":      {"test", refused("kernel/unprivileged_userns_clone", "0"), namespaces + "sudo sysctl -w kernel.unprivileged_userns_clone=1, or run as root"},
		"no namespaces": {"run", refused("user/max_user_namespaces", "0"), namespaces + "sudo sysctl -w user.max_user_namespaces=15000, or run as root"},
		"seccomp":       {"run", program("unshare", "return 1"), namespaces + "inside a container, start that container with docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or run as root"},
		"root without":  {"run", func(m machine) { program("id", "echo 0")(m); program("unshare", "return 1")(m) }, "error: the kernel refuses new mount and network namespaces, in which pods run: inside a container, start that container with docker run --privileged"},
		"no mpirun":     {"run", without("mpirun", "apt-get"), "error: make run needs packages that are missing, and there is no apt-get to install them with: install openmpi-bin (Debian's names)"},
		"no sudo":       {"run", without("sshd", "sudo"), "error: make run needs packages that are missing, and there is no sudo to install them with: install openssh-server (Debian's names)"},
		"no uidmap":     {"run", without("newuidmap", "sudo"), "warning: make run uses packages that are missing, and there is no sudo to install them with: install uidmap (Debian's names)"},
		"no browser":    {"test", without("chromium", "apt-get"), "error: make test needs packages that are missing, and there is no apt-get to install them with: install chromium (Debian's names)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := healthy()
			c.change(m)
			code, says := m.check(t, c.goal)
			require.Equal(t, c.says+"\n", says)
			require.Equal(t, strings.HasPrefix(says, "error"), code == 1)
		})
	}
}

// What only pods need does not keep anyone from building.
func TestBuildNeedsNoPods(t *testing.T) {
	t.Parallel()
	m := healthy()
	without("unshare", "mpirun", "sudo")(m)
	m.programs["unshare"] = "return 1"
	code, says := m.check(t, "build")
	require.Zero(t, code, says)
	require.Empty(t, says)
}

// What was built before is not written again.
func TestDiskOfAWarmBuild(t *testing.T) {
	t.Parallel()
	m := healthy()
	m.programs["df"] = `printf 'x\n/dev/vda 1 1 1000000 99%% /\n'`
	m.programs["du"] = `echo 320000 total` // of a sixteenth
	modules := t.TempDir()
	m.programs["go"] = `case $* in version) echo go version go1.99 linux/amd64 ;; *) echo ` + modules + ` ;; esac`
	m.files["tree/bin/argosy-controlplane"] = ""
	_, says := m.check(t, "run")
	require.Contains(t, says, "where 5.0 GiB will be written", "the modules are missing")
	version := exec.Command("sed", "-n", `s|^\tk8s.io/kubernetes ||p`, "../cluster/go.mod")
	out, err := version.Output()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(modules, "k8s.io/kubernetes@"+strings.TrimSpace(string(out))), 0o755))
	code, says := m.check(t, "run")
	require.Zero(t, code, says)
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	m := healthy()
	m.env["ARGOSY_HTTP"] = l.Addr().String()
	code, says := m.check(t, "run")
	require.Equal(t, 1, code)
	require.Equal(t, "error: "+l.Addr().String()+" is in use, by another Argosy or by something else: end it, or have a free port picked (ARGOSY_HTTP=127.0.0.1:0 make run)\n", says)
	code, says = m.check(t, "build")
	require.Zero(t, code, says)
}

// All faults are said at once.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	m := healthy()
	without("gcc", "npm", "git", "sshd", "sudo")(m)
	code, says := m.check(t, "run")
	require.Equal(t, 1, code)
	require.Equal(t, 4, strings.Count(says, "error: "), says)
}
