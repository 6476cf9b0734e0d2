//go:build !linux

package embedded

import (
	"errors"
	"runtime"
	"syscall"
)

// Unsupported is why this system has no embedded cluster; nil on Linux.
var Unsupported = errors.New(`the embedded cluster needs the namespaces of Linux, which ` + runtime.GOOS + ` does not have.
Use a cluster you have (kind, minikube, Docker Desktop or a real one), with Argo Workflows, the MPI operator and an S3 store:
  argosy server --kubeconfig ~/.kube/config --s3 HOST:PORT
or run Argosy in a Linux virtual machine (WSL 2, Lima, Multipass)`)

func session() *syscall.SysProcAttr { return nil }

func observe(int) (*process, error) { return nil, Unsupported }
