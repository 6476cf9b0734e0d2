package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/net/descriptor"
	"github.com/argosy-ml/argosy/cluster/runtime/emissary"
)

// Run is argosy-podinit's `run`: it reads the Spec, becomes the container and
// runs its command in place of this process. The caller must have locked the
// main goroutine to its thread, since namespaces belong to threads. It returns
// only with an error, which it has also written to the status descriptor.
func Run() error {
	err := descriptor.KeepToSelf() // what the holder gave to this program is not for the command
	if err == nil {
		err = run()
	}
	if _, werr := syscall.Write(StatusFD, []byte(err.Error())); werr != nil {
		return fmt.Errorf("%w (and the holder is gone: %w)", err, werr)
	}
	return err
}

func run() error {
	spec, err := readSpec()
	if err != nil {
		return err
	}
	if err := enterRoot(spec); err != nil {
		return err
	}
	terminal, err := takeTerminal()
	if err != nil {
		return err
	}
	if terminal {
		if err := unix.IoctlSetInt(0, unix.TIOCSCTTY, 0); err != nil {
			return fmt.Errorf("make the terminal the controlling one: %w", err)
		}
	}
	if spec.Hostname != "" {
		if err := unix.Sethostname([]byte(spec.Hostname)); err != nil {
			return fmt.Errorf("set the host name: %w", err)
		}
	}
	if err := dieFirst(); err != nil {
		return err
	}
	if err := awaitAdmission(); err != nil {
		return err
	}
	return spec.become()
}

// dieFirst has what runs in pods killed before the control plane when memory runs out.
func dieFirst() error { return os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) }

// readSpec reads the Spec from where it begins: the file is shared with all who read it.
func readSpec() (*Spec, error) {
	var spec Spec
	f := os.NewFile(SpecFD, "spec")
	if err := json.NewDecoder(io.NewSectionReader(f, 0, math.MaxInt64)).Decode(&spec); err != nil {
		return nil, fmt.Errorf("read the container's description: %w", err)
	}
	return &spec, f.Close()
}

// become replaces this process by the command.
func (p *Process) become() error {
	path, err := p.enter()
	if err != nil {
		return err
	}
	if err := p.setUser(); err != nil {
		return err
	}
	// Changing the user made the kernel forget that the container ends with its holder.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	env := p.Env
	if p.SelfExec {
		env = emissary.Small(env)
	}
	return fmt.Errorf("exec %s: %w", path, syscall.Exec(path, p.Args, env))
}

// enter prepares this thread for the command, all but its user, and finds its program.
func (p *Process) enter() (string, error) {
	if err := p.settleAccount(); err != nil {
		return "", fmt.Errorf("accounts: %w", err)
	}
	if dir := p.Dir; dir != "" {
		if err := os.Chdir(dir); err != nil {
			return "", fmt.Errorf("working folder: %w", err)
		}
	}
	path, err := p.program()
	if err != nil {
		return "", err
	}
	if err := p.limit(); err != nil {
		return "", err
	}
	if p.FakeOwners {
		if err := fakeOwners(); err != nil {
			return "", err
		}
	}
	if err := refuseKernelLog(); err != nil {
		return "", err
	}
	if err := refuseOthersNamespaces(); err != nil {
		return "", err
	}
	if err := p.keepFromKeys(); err != nil {
		return "", err
	}
	if p.limited() {
		if err := dropCapabilities(p.Capabilities); err != nil {
			return "", err
		}
	}
	if p.Seccomp {
		if err := guardKernel(p.Capabilities); err != nil {
			return "", err
		}
	}
	if p.NoNewPrivileges {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return "", fmt.Errorf("forbid new privileges: %w", err)
		}
	}
	return path, nil
}

// keepFromKeys keeps the container from the kernel's keys. Keys belong to users, not to namespaces, so the container would share those of
// the cluster's owner and of other pods. A privileged container has a keyring for its session, which counts against a quota of its user.
func (p *Process) keepFromKeys() error {
	if !p.Privileged {
		return refuseKeys()
	}
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
	if err == nil || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // there are none, or not for this cluster either
		return nil
	}
	return fmt.Errorf("make a keyring for the container: %w", err)
}

// limit bounds what this process, and those that it starts, may use.
func (p *Process) limit() error {
	if len(p.CPUs) > 0 {
		var set unix.CPUSet
		for _, n := range p.CPUs {
			set.Set(n)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("keep to processors %v: %w", p.CPUs, err)
		}
	}
	if err := limitProcesses(p.MaxProcesses); err != nil {
		return err
	}
	if p.MaxData == 0 {
		return nil
	}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: p.MaxData, Max: p.MaxData}); err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	return nil
}

// limitProcesses sets the limit of processes, unless the existing limit is lower.
func limitProcesses(most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil || most == 0 || now.Max <= most {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: min(now.Cur, most), Max: most}); err != nil {
		return fmt.Errorf("limit processes: %w", err)
	}
	return nil
}

func (p *Process) program() (string, error) {
	if p.SelfExec {
		return "/proc/self/exe", nil
	}
	if len(p.Args) == 0 {
		return "", fmt.Errorf("no command")
	}
	// The search path is the container's, not that of the cluster's owner.
	os.Clearenv()
	for _, e := range p.Env {
		for i := 1; i < len(e); i++ {
			if e[i] == '=' {
				if err := os.Setenv(e[:i], e[i+1:]); err != nil {
					return "", fmt.Errorf("environment variable %q: %w", e[:i], err)
				}
				break
			}
		}
	}
	path, err := exec.LookPath(p.Args[0])
	if err != nil {
		return "", err
	}
	return path, nil
}

func (p *Process) setUser() error {
	if p.User == nil {
		return nil
	}
	groups := make([]int, len(p.User.Groups))
	for i, g := range p.User.Groups {
		groups[i] = int(g)
	}
	if err := p.User.giveOutput(); err != nil {
		return err
	}
	if err := syscall.Setgroups(groups); err != nil {
		return fmt.Errorf("set groups: %w", err)
	}
	if err := syscall.Setgid(int(*p.User.GID)); err != nil {
		return fmt.Errorf("run as group %d: %w", *p.User.GID, err)
	}
	if err := syscall.Setuid(int(p.User.UID)); err != nil {
		return fmt.Errorf("run as user %d: %w", p.User.UID, err)
	}
	return nil
}

// terminals is the major device number of terminals such as /dev/pts/0.
const terminals = 136

// giveOutput lets the user open /dev/stdout and its like, which are pipes that the holder made, or a terminal.
func (u *User) giveOutput() error {
	for fd := range 3 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO && unix.Major(st.Rdev) != terminals {
			continue
		}
		if err := unix.Fchown(fd, int(u.UID), -1); err != nil {
			return fmt.Errorf("give user %d its output: %w", u.UID, err)
		}
	}
	return nil
}
