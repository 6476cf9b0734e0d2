package shim

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	ctr "github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/pipe"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// drain is how long output is waited for that others than the container's own processes could still write. What the container wrote is
// taken in whole.
const drain = time.Second

// container is a life of a container.
type container struct {
	life podlog.Life
	cmd  Command
	spec *os.File // the Spec, for those who join
	log  *podlog.Writer

	child   *child
	output  map[string]*os.File // by stream; the terminal is stdout
	started time.Time           // zero where the command never ran
	forked  chan struct{}       // closed once there is a child to signal
	running chan struct{}       // closed when the command runs, or is not going to
	over    chan struct{}       // closed when the end is written down
	exit    podlog.Exit

	// mounts is the container's mount namespace. It is held until the end is reported: taking it down takes longer than ending.
	mounts *os.File

	mu     sync.Mutex
	stdin  *os.File // the container reads what is written here; nil without an input, and after its end
	closed bool     // spec and child are
}

// run starts a container, says so, and says how it ended.
func (s *server) run(c conn, r request, files []*os.File) error {
	if len(files) != 1 || r.Command == nil || r.Container != filepath.Base(r.Container) {
		return errors.New("a container's name, Command and Spec are wanted")
	}
	ct := &container{
		life: podlog.Life{Folder: filepath.Join(LogFolder, r.Container), Number: r.Life}, cmd: *r.Command,
		output: map[string]*os.File{}, forked: make(chan struct{}), running: make(chan struct{}), over: make(chan struct{}),
	}
	var err error
	if ct.spec, err = dup(files[0]); err != nil {
		return err
	}
	earlier, err := s.enrol(r.Container, ct)
	if err != nil {
		return errors.Join(err, ct.spec.Close())
	}
	if earlier != nil {
		// Asked for by a kubelet that died before it could know, and by the next one.
		return errors.Join(earlier.tell(c), ct.spec.Close())
	}
	if ct.log, err = podlog.Create(ct.life); err == nil {
		err = s.name(r.Hostname)
	}
	if err == nil {
		err = s.start(ct)
	}
	if err != nil {
		go ct.conclude(podlog.Exit{Code: ctr.ExitNotStarted, Fault: err.Error()})
	} else {
		ct.started = time.Now()
		go ct.attend()
	}
	close(ct.running)
	return ct.tell(c)
}

// enrol makes a container the latest of its name. If that container is there already, enrol returns it. Callers find the
// container once its log is begun.
func (s *server) enrol(name string, ct *container) (earlier *container, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return nil, errLeft
	}
	if old := s.containers[name]; old != nil && old.life.Number == ct.life.Number {
		return old, nil
	}
	s.containers[name] = ct
	return nil, nil //nolint:nilnil // there was none
}

// watch learns of a container that was started before.
func (s *server) watch(c conn, r request) error {
	ct, err := s.find(r.Container)
	if err != nil {
		return err
	}
	if ct.life.Number != r.Life {
		return fmt.Errorf("container %q is in life %d, not %d", r.Container, ct.life.Number, r.Life)
	}
	return ct.tell(c)
}

// tell sends the replies to a run or a watch.
func (ct *container) tell(c conn) error {
	<-ct.running
	if !ct.started.IsZero() {
		if err := c.send(reply{Started: ct.started}); err != nil {
			return err
		}
	}
	<-ct.over
	return c.send(reply{Exit: &ct.exit})
}

// start makes the container's first process and waits until it has become the command.
func (s *server) start(ct *container) error {
	status, statusW, err := ctr.StatusLine()
	if err != nil {
		return err
	}
	defer status.Close()
	theirs := []*os.File{statusW} // the child's ends
	defer func() { closeAll(theirs) }()
	fds := []*os.File{s.null, s.null, s.null, ct.spec, statusW}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	var console conn
	if ct.cmd.TTY {
		var theirEnd *os.File
		if console, theirEnd, err = newConsole(); err != nil {
			return err
		}
		defer console.end()
		theirs = append(theirs, theirEnd)
		fds = append(fds, s.null, theirEnd)
	} else if err := ct.connect(fds, &theirs); err != nil {
		return err
	}
	group, err := ct.joinGroup(attr)
	if err != nil {
		return err
	}
	defer group.Close()
	processes, err := s.processesOf(ct, attr)
	if err != nil {
		return err
	}
	if ct.child, err = s.forkInto(processes, fds, attr, "run"); err != nil {
		return err
	}
	close(ct.forked)
	closeAll(theirs)
	ct.mounts, err = os.Open(proc(ct.child.pid, "ns/mnt"))
	if errors.Is(err, fs.ErrNotExist) { // something killed it
		err = nil
	}
	var fault []byte
	if err == nil {
		fault, err = ctr.Admit(status)
	}
	if err == nil && len(fault) == 0 && ct.cmd.TTY {
		err = ct.takeTerminal(console)
	}
	if err == nil && len(fault) == 0 {
		return nil
	}
	_ = ct.child.signal(syscall.SIGKILL)
	_, _ = ct.child.wait()
	if len(fault) > 0 {
		err = errors.New(string(fault))
	}
	return fmt.Errorf("%w%s", err, ct.lastWords())
}

// joinGroup has a process start in the container's cgroup. The caller closes the file, which is nil where there is none, afterwards.
func (ct *container) joinGroup(attr *syscall.SysProcAttr) (*os.File, error) {
	if ct.cmd.Cgroup == "" {
		return nil, nil //nolint:nilnil // closing no file is fine
	}
	folder, err := os.Open(ct.cmd.Cgroup)
	if err != nil {
		return nil, fmt.Errorf("open the container's cgroup: %w", err)
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(folder.Fd())
	return folder, nil
}

// connect creates pipes for the standard streams, with the container's ends in fds.
// stdout and stderr share a pipe, so that the log keeps their order. They are
// separate only in containers that a client may attach to with a standard input.
func (ct *container) connect(fds []*os.File, theirs *[]*os.File) error {
	outputs := []string{podlog.Stdout}
	if ct.cmd.Stdin {
		outputs = append(outputs, podlog.Stderr)
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		fds[0], ct.stdin, *theirs = r, w, append(*theirs, r)
	}
	for i, stream := range outputs {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		ct.output[stream], *theirs = r, append(*theirs, w)
		for fd := 1 + i; fd <= 2; fd++ {
			fds[fd] = w
		}
	}
	return nil
}

// takeTerminal receives the terminal that the container's first process opened.
func (ct *container) takeTerminal(console conn) error {
	master, err := receiveTerminal(console)
	if err != nil {
		return err
	}
	ct.output[podlog.Stdout] = master
	ct.stdin, err = dup(master)
	return err
}

// lastWords are what a container said that could not be started: a crash of the helper itself shows here.
func (ct *container) lastWords() string {
	var b strings.Builder
	for _, f := range ct.output {
		_ = f.SetReadDeadline(time.Now().Add(drain))
		_, _ = io.Copy(&b, io.LimitReader(f, 1024))
	}
	return strings.TrimRight(" "+b.String(), " \n")
}

// attend takes the container's output until it ends.
func (ct *container) attend() {
	var pumps sync.WaitGroup
	for stream, f := range ct.output {
		pumps.Go(func() {
			err := ct.log.Pump(stream, pipe.New(f))
			// The last user of a terminal is gone.
			if err != nil && !errors.Is(err, syscall.EIO) {
				fmt.Fprintln(os.Stderr, "argosy-podinit: output lost:", err)
				_, _ = io.Copy(io.Discard, f) // a full pipe would stop the program
			}
		})
	}
	stop := make(chan struct{})
	exceeded := make(chan excess, 1)
	go func() { exceeded <- ct.watch(stop) }()
	ws, err := ct.child.wait()
	close(stop)
	if ct.cmd.Shared && ct.mounts != nil { // else the kernel ended all with the first process
		killRest(ct.mounts)
	}
	exit := podlog.Exit{Code: exitCode(ws), Started: ct.started}
	if ws.Signaled() {
		exit.Signal = int(ws.Signal())
	}
	if err != nil {
		exit.Code, exit.Fault = 255, fmt.Sprintf("the end was not seen: %v", err)
	}
	why := <-exceeded
	if why.processes {
		exit.TooMany = ct.cmd.Processes
	}
	exit.OOM = why.memory || ct.cmd.Cgroup != "" && exit.Signal == int(syscall.SIGKILL) && killedForMemory(ct.cmd.Cgroup)
	for _, f := range ct.output {
		_ = f.SetReadDeadline(time.Now().Add(drain))
	}
	pumps.Wait()
	ct.conclude(exit)
}

// conclude writes the end down.
func (ct *container) conclude(exit podlog.Exit) {
	exit.Finished = time.Now()
	ct.exit = exit
	ct.closeStdin()
	for _, f := range ct.output {
		_ = f.Close()
	}
	ct.mu.Lock()
	ct.closed = true
	_ = ct.spec.Close()
	if ct.child != nil {
		ct.child.close()
	}
	ct.mu.Unlock()
	err := ct.life.WriteExit(exit)
	if ct.log != nil {
		err = errors.Join(ct.log.Close(), err)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "argosy-podinit: end not written down:", err)
	}
	close(ct.over)
	if ct.mounts != nil {
		_ = ct.mounts.Close()
	}
}

// killedForMemory reports whether the kernel killed a process of the cgroup because it ran out of memory.
func killedForMemory(cgroup string) bool {
	b, err := os.ReadFile(filepath.Join(cgroup, "memory.events"))
	if err != nil { // without a memory controller nothing is limited
		return false
	}
	for line := range strings.Lines(string(b)) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return strings.TrimSpace(n) != "0"
		}
	}
	return false
}
