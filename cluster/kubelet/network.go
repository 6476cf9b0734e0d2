package kubelet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// pause is the process that holds the namespaces which the pod's containers share.
type pause struct {
	cmd    *exec.Cmd
	ownNet bool
}

// startNetwork starts the holder of the pod's namespaces and gives the pod its address and names.
func (p *pod) startNetwork() error {
	host := p.obj.Spec.HostNetwork
	p.addr = gatewayAddr
	if !host {
		addr, err := p.k.addresses.Take()
		if err != nil {
			return err
		}
		p.addr = addr
	}
	// Names are known before anything listens: a peer that is early is refused and tries again, but one that cannot
	// resolve a name gives up.
	p.k.hosts.add(p)
	ps, err := startPause(p.k.helper("argosy-podinit"), hostnameOf(p.obj), !host)
	if err != nil {
		return fmt.Errorf("start the pod's namespaces: %w", err)
	}
	p.pause = ps
	if host {
		return nil
	}
	ns, err := ps.namespace("net")
	if err != nil {
		return err
	}
	defer ns.Close()
	return attach(ns, p.addr)
}

func startPause(helper, hostname string, ownNet bool) (*pause, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command(helper, "pause", hostname)
	cmd.Env = []string{}
	// Its own error messages go where the kubelet's go; it lives on in silence.
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{w, w} // the second is container.StatusFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	if ownNet {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	ps := &pause{cmd: cmd, ownNet: ownNet}
	ok := make([]byte, 2)
	if _, err := io.ReadFull(r, ok); err != nil {
		return nil, errors.Join(fmt.Errorf("argosy-podinit pause ended early: %w", err), ps.stop())
	}
	return ps, nil
}

func (ps *pause) namespace(kind string) (*os.File, error) {
	return os.Open(filepath.Join("/proc", strconv.Itoa(ps.cmd.Process.Pid), "ns", kind))
}

// namespaces opens what a container joins.
func (ps *pause) namespaces() ([]*os.File, error) {
	kinds := []string{"ipc", "uts"}
	if ps.ownNet {
		kinds = append(kinds, "net")
	}
	var files []*os.File
	for _, kind := range kinds {
		f, err := ps.namespace(kind)
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (ps *pause) stop() error {
	if err := ps.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = ps.cmd.Wait() // it was killed; that is no news
	return nil
}
