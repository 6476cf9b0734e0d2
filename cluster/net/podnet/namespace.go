package podnet

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// In calls f in a namespace of a pod, of its network for instance. Sockets made by f, and processes that it starts without goroutines of its
// own, belong there for good.
func In(ns *os.File, f func() error) error {
	return apart(func() error {
		if err := unix.Setns(int(ns.Fd()), 0); err != nil {
			return fmt.Errorf("enter %s: %w", ns.Name(), err)
		}
		return f()
	})
}

// OpenNode makes the network that pods with hostNetwork share and returns its namespace, which lasts as long as it is open somewhere.
func OpenNode() (ns *os.File, err error) {
	err = apart(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		ns, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := Attach(ns, Node); err != nil {
		_ = ns.Close()
		return nil, err
	}
	return ns, nil
}

// apart calls f on a thread of its own, which ends with it: so no other goroutine finds itself in the wrong namespace.
func apart(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}
