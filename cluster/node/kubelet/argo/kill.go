package argo

import (
	"path"
	"strconv"
	"syscall"
)

// argoKill recognizes the command with which Argo's controller stops a container: `argoexec kill SIGNAL 1`. The kubelet sends the signal
// itself, because that large program is slow to start.
func Kill(command []string) (syscall.Signal, bool) {
	if len(command) != 4 || path.Base(command[0]) != "argoexec" || command[1] != "kill" || command[3] != "1" {
		return 0, false
	}
	n, err := strconv.Atoi(command[2])
	return syscall.Signal(n), err == nil && n > 0 && n < 65
}
