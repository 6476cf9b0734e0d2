package container

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Run is argosy-podinit's `run`: it reads the Spec, becomes the container and
// runs its command in place of this process. The caller must have locked the
// main goroutine to its thread, since namespaces belong to threads. It returns
// only with an error, which it has also written to the status descriptor.
func Run() error {
	unix.CloseOnExec(StatusFD)
	err := run()
	if _, werr := syscall.Write(StatusFD, []byte(err.Error())); werr != nil {
		return fmt.Errorf("%w (and the kubelet is gone: %w)", err, werr)
	}
	return err
}

func run() error {
	var spec Spec
	f := os.NewFile(SpecFD, "spec")
	if err := json.NewDecoder(f).Decode(&spec); err != nil {
		return fmt.Errorf("read the container's description: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	for i := range spec.Namespaces {
		fd := NamespacesFD + i
		if err := unix.Setns(fd, 0); err != nil {
			return fmt.Errorf("join the pod's namespace: %w", err)
		}
		if err := unix.Close(fd); err != nil {
			return err
		}
	}
	if err := enterRoot(&spec); err != nil {
		return err
	}
	if spec.Hostname != "" {
		if err := unix.Sethostname([]byte(spec.Hostname)); err != nil {
			return fmt.Errorf("set the host name: %w", err)
		}
	}
	// Pods are to be killed before the control plane when memory runs out.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0); err != nil {
		return err
	}
	return spec.become()
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
	return fmt.Errorf("exec %s: %w", path, syscall.Exec(path, p.Args, p.Env))
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
	if p.FakeOwners {
		if err := fakeOwners(); err != nil {
			return "", err
		}
	}
	if !p.Privileged {
		if err := dropCapabilities(p.Capabilities); err != nil {
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

func (p *Process) program() (string, error) {
	if p.SelfExec {
		return "/proc/self/exe", nil
	}
	if len(p.Args) == 0 {
		return "", fmt.Errorf("no command")
	}
	// The search path is the container's, not that of whoever started the cluster.
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

// giveOutput lets the user open /dev/stdout and its like, which are pipes that the kubelet made.
func (u *User) giveOutput() error {
	for fd := range 3 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
			continue
		}
		if err := unix.Fchown(fd, int(u.UID), -1); err != nil {
			return fmt.Errorf("give user %d its output: %w", u.UID, err)
		}
	}
	return nil
}

// ExecFD is the pidfd of the container's first process, for Exec.
const ExecFD = 4

// Exec is argosy-podinit's `exec`: it joins the container whose first process
// stands at ExecFD, runs the Process it reads from SpecFD there and returns
// that command's exit code.
func Exec() (int, error) {
	var p Process
	f := os.NewFile(SpecFD, "spec")
	if err := json.NewDecoder(f).Decode(&p); err != nil {
		return 0, fmt.Errorf("read the command: %w", err)
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	// A thread that shares its root folder with others may not change mount namespaces.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return 0, err
	}
	const all = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if err := unix.Setns(ExecFD, all); err != nil {
		return 0, fmt.Errorf("join the container: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return 0, err
	}
	path, err := p.enter()
	if err != nil {
		return 0, err
	}
	cmd := &exec.Cmd{Path: path, Args: p.Args, Env: p.Env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if p.User != nil {
		if err := p.User.giveOutput(); err != nil {
			return 0, err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.User.UID, Gid: *p.User.GID, Groups: p.User.Groups}}
	}
	// The kubelet says so when nobody waits for the command any more.
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		<-told
		_ = cmd.Process.Kill() // it may have ended by itself
	}()
	if err := cmd.Wait(); cmd.ProcessState == nil {
		return 0, err
	}
	return exitCode(cmd.ProcessState), nil
}

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// Pause is argosy-podinit's `pause HOSTNAME`: it holds a pod's network, ipc and
// uts namespaces until it is killed.
func Pause(hostname string) error {
	if err := unix.Sethostname([]byte(hostname)); err != nil {
		return fmt.Errorf("set host name %s: %w", strconv.Quote(hostname), err)
	}
	if _, err := syscall.Write(StatusFD, []byte("ok")); err != nil {
		return err
	}
	if err := unix.Close(StatusFD); err != nil {
		return err
	}
	for {
		if err := unix.Pause(); err != nil && err != unix.EINTR {
			return err
		}
	}
}
