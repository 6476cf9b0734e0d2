package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is a running `argosy-cluster up`.
type cluster struct {
	home  string
	cmd   *exec.Cmd
	any   dynamic.Interface
	ended chan error
	ready map[string]time.Duration // since the start, by component
}

// startLimit is how long a cluster may take to start.
const startLimit = 2 * time.Minute

func startCluster(ctx context.Context, bin, home string, args ...string) (*cluster, error) {
	c := &cluster{home: home, ended: make(chan error, 1), ready: map[string]time.Duration{}}
	c.cmd = exec.Command(filepath.Join(bin, "argosy-cluster"), append([]string{"up", "--home", home}, args...)...)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	up := make(chan struct{})
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			name, _, ok := strings.Cut(s.Text(), " ready ")
			if _, known := c.ready[name]; ok && !known {
				c.ready[name] = time.Since(start)
				if name == "cluster" {
					close(up)
				}
			}
		}
		c.ended <- c.cmd.Wait()
	}()
	select {
	case <-up:
	case err := <-c.ended:
		return nil, fmt.Errorf("argosy-cluster up ended: %w", err)
	case <-time.After(startLimit):
		return nil, errors.Join(fmt.Errorf("no cluster within %v", startLimit), c.stop())
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), c.stop())
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, "kubeconfig"))
	if err == nil {
		cfg.QPS = -1
		c.any, err = dynamic.NewForConfig(cfg)
	}
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cluster) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return <-c.ended
}

// usage is what all processes of a cluster take.
type usage struct {
	memory float64 // MB: private, and of what is shared the share of each
	cpu    time.Duration
}

// usage adds up over the supervisor and all its descendants; those in namespaces of their own are descendants too.
func (c *cluster) usage() (u usage, err error) {
	parents := map[int]int{}
	stats := map[int][]string{}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return u, err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil { // it has ended
			continue
		}
		text := string(b)
		fields := strings.Fields(text[strings.LastIndex(text, ")")+1:]) // from the state on
		pid, err1 := strconv.Atoi(strings.Split(f, "/")[2])
		parent, err2 := strconv.Atoi(fields[1])
		if err := errors.Join(err1, err2); err != nil {
			return u, err
		}
		parents[pid], stats[pid] = parent, fields
	}
	for pid := range parents {
		if !descends(pid, c.cmd.Process.Pid, parents) {
			continue
		}
		u.memory += pss(pid)
		for _, field := range []int{11, 12} { // user and system time in ticks of 10 ms
			n, err := strconv.Atoi(stats[pid][field])
			if err != nil {
				return u, err
			}
			u.cpu += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return u, nil
}

func descends(pid, from int, parents map[int]int) bool {
	for ; pid > 1; pid = parents[pid] {
		if pid == from {
			return true
		}
	}
	return false
}

// pss is the proportional share of memory of a process in MB.
func pss(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil { // it has ended
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			if kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				return kb / 1024
			}
		}
	}
	return 0
}

// diskOf is the size of a folder in MB.
func diskOf(dir string) (mb float64, err error) {
	err = filepath.Walk(dir, func(_ string, fi os.FileInfo, err error) error {
		if err == nil && fi.Mode().IsRegular() {
			mb += float64(fi.Sys().(*syscall.Stat_t).Blocks) * 512 / (1 << 20)
		}
		return nil // files come and go
	})
	return mb, err
}
