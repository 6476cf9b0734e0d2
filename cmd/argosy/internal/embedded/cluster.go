// Package embedded starts the cluster that lives beside the server, or attaches to the one that is there already. The
// cluster is the program argosy-cluster, in a session of its own: Ctrl-C in a terminal does not reach it, and it outlives a
// server that was killed, so that the next one finds its runs going on.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// Config says which cluster and how.
type Config struct {
	Home home.Home
	// Program is the path of argosy-cluster; empty means the one beside this executable.
	Program string
	// Linger is how long the cluster waits for another server when this one was killed; 0 means for ever.
	Linger time.Duration
	// Options are those of a cluster that has to be started; one that runs already must agree with them.
	Options Options
	// Images is what Options.Images is for a cluster that has to be started when it says nothing.
	Images string
	// Line receives each line that the cluster prints while it starts ("etcd ready 0.4s").
	Line func(string)
}

// Cluster is a running cluster.
type Cluster struct {
	Info     Info
	Attached bool // it was running already

	process *process
	log     *follower // what it prints from now on
	stop    sync.Once
	stopErr error
}

const (
	tick = 50 * time.Millisecond
	// busy bounds the wait for a cluster that another server started or stops.
	busy = 2 * time.Minute
)

// Up attaches to the cluster of the folder, waiting for one that is starting, or starts it. It returns when the cluster
// is ready. A context that ends meanwhile stops what was started. The error is a *Different when a cluster runs that was
// started with other options.
func Up(ctx context.Context, cfg Config) (*Cluster, error) {
	if Unsupported != nil {
		return nil, Unsupported
	}
	if cfg.Line == nil {
		cfg.Line = func(string) {}
	}
	deadline := time.Now().Add(busy)
	for {
		pid, runs := cfg.Home.Supervisor()
		if !runs {
			return start(ctx, cfg)
		}
		c, err := attach(ctx, cfg, pid)
		if different := (*Different)(nil); err == nil || errors.As(err, &different) {
			return c, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("process %d holds the cluster of %s but does not get ready: %w; end it, or choose another folder with --home", pid, cfg.Home, err)
		}
		if err := sleep(ctx, tick); err != nil {
			return nil, err
		}
	}
}

func attach(ctx context.Context, cfg Config, pid int) (*Cluster, error) {
	info, err := readInfo(cfg.Home, pid)
	if err != nil {
		return nil, err
	}
	if err := agree(cfg.Home, cfg.Options, info.Options.Options); err != nil {
		return nil, err
	}
	if err := healthy(ctx, info); err != nil {
		return nil, err
	}
	log, err := follow(logFile(cfg.Home))
	if err != nil {
		return nil, err
	}
	p, err := observe(pid)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &Cluster{Info: info, Attached: true, process: p, log: log}, nil
}

// Done is closed when the cluster's supervisor is gone.
func (c *Cluster) Done() <-chan struct{} { return c.process.done }

// Epitaph says how the cluster ended, with what it printed last; it waits for the end.
func (c *Cluster) Epitaph() string {
	<-c.process.done
	text := fmt.Sprintf("argosy-cluster (process %d) ended with %s", c.process.Pid, c.process.state)
	c.log.seen = nil // of the start
	if err := c.log.each(func(string) {}); err != nil {
		return fmt.Sprintf("%s (its log: %v)", text, err)
	}
	if words := c.log.said(15); words != "" {
		text += "; it said:\n" + words
	}
	return text
}

// Stays reports that the cluster ran before this process and belongs to no process, so it keeps running.
func (c *Cluster) Stays() bool { return c.Attached && c.Info.Options.Linger == 0 }

// Release leaves the cluster running.
func (c *Cluster) Release() error { return c.log.Close() }

// Stop ends the cluster with all its pods and waits until it is gone; when ctx ends first, it is killed. Further calls
// give the same answer.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop.Do(func() { c.stopErr = errors.Join(c.process.stop(ctx), c.log.Close()) })
	return c.stopErr
}

// Stop ends the cluster of a folder and returns its process id, 0 when none ran. Any process may stop it.
func Stop(ctx context.Context, h home.Home) (pid int, err error) {
	pid, runs := h.Supervisor()
	if !runs {
		return 0, nil
	}
	p, err := observe(pid)
	if errors.Is(err, syscall.ESRCH) { // it ended this moment
		return pid, nil
	} else if err != nil {
		return pid, err
	}
	return pid, p.stop(ctx)
}

func start(ctx context.Context, cfg Config) (*Cluster, error) {
	program, err := Program(cfg.Program)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logFile(cfg.Home), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cluster log: %w", err)
	}
	defer log.Close()
	// A file, not a pipe: the cluster must be able to print after a killed server is gone.
	lines, err := follow(log.Name())
	if err != nil {
		return nil, fmt.Errorf("cluster log: %w", err)
	}

	options := cfg.Options
	options.Images = cmp.Or(options.Images, cfg.Images)
	cmd := exec.Command(program, append([]string{"up", "--home", string(cfg.Home), "--linger", cfg.Linger.String()}, options.Flags()...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = session()
	p, err := run(cmd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the embedded cluster: %w", err), lines.Close())
	}
	c := &Cluster{process: p, log: lines}
	if err := c.awaitReady(ctx, cfg); err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		return nil, errors.Join(err, c.Stop(stopping))
	}
	return c, nil
}

// awaitReady relays lines until the record is there and the last of them was printed.
func (c *Cluster) awaitReady(ctx context.Context, cfg Config) error {
	said := false
	line := func(l string) {
		said = said || strings.HasPrefix(l, "cluster ready ")
		cfg.Line(l)
	}
	for {
		if err := c.log.each(line); err != nil {
			return err
		}
		info, err := readInfo(cfg.Home, c.process.Pid)
		if err == nil && said {
			c.Info = info
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.process.done:
			if err := c.log.each(func(string) {}); err != nil {
				return err
			}
			return fmt.Errorf("the embedded cluster did not start: argosy-cluster ended with %s\n%s", c.process.state, c.log.said(15))
		case <-time.After(tick):
		}
	}
}

// Program is the path of argosy-cluster, beside this executable unless it is given. The error says what to do when it is
// not there.
func Program(path string) (string, error) {
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find argosy-cluster: %w", err)
		}
		if target, err := filepath.EvalSymlinks(self); err == nil {
			self = target
		}
		path = filepath.Join(filepath.Dir(self), "argosy-cluster")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no %s; build it with `make build`, or use a cluster you have: argosy server --kubeconfig FILE", path)
	}
	return path, nil
}

// logFile takes what argosy-cluster prints; its own log is supervisor.log.
func logFile(h home.Home) string { return h.Path("cluster", "log", "up.log") }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
