package kubelet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/argo"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/stream"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// served gives package stream the kubelet's pods.
type served struct{ k *Kubelet }

func (s served) Find(namespace, name string) (stream.Pod, *corev1.Pod, error) {
	obj, err := s.k.pods.Pods(namespace).Get(name)
	if err != nil {
		return nil, nil, err
	}
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	if p := s.k.known[obj.UID]; p != nil {
		return servedPod{p}, obj, nil
	}
	return nil, obj, nil
}

func (s served) Logs(uid types.UID) string { return filepath.Join(s.k.podDir(uid), shim.LogFolder) }

// servedPod gives package stream one pod.
type servedPod struct{ p *pod }

func (s servedPod) Running() bool { return s.p.status.Phase() == corev1.PodRunning }

func (s servedPod) Container(name string) (stream.Container, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if proc := s.p.running[name]; proc != nil {
		return stream.Container{Name: proc.Name, Holder: proc.Holder, Log: proc.Life}, nil
	}
	return stream.Container{}, errors.New("container " + name + " is not running")
}

// Network first notes that a client may connect, so that no other pod gets the sandbox.
func (s servedPod) Network() (*os.File, error) {
	s.p.dialed.Store(true)
	return s.p.holder.Namespace("net")
}

// Kill sends the signal of Argo's command `argoexec kill`.
func (s servedPod) Kill(container string, command []string, out io.Writer) (done bool, err error) {
	sig, ok := argo.Kill(command)
	if !ok || s.p.argo == nil {
		return false, nil
	}
	c := podspec.FindContainer(s.p.obj.Spec.Containers, container)
	if c != nil && s.p.argo.Plays(c) || container == argo.Waiter && sig == syscall.SIGTERM {
		// It ends with the main container, which gets the signal too. The controller sends this as soon as the main container has ended,
		// and the first process of a container that has not begun to listen would die of it and report nothing.
		return true, nil
	}
	running, err := s.Container(container)
	if err != nil {
		return true, err
	}
	if out != nil {
		if _, err := fmt.Fprintf(out, "killing 1 with %v\n", sig); err != nil {
			return true, err
		}
	}
	s.p.mu.Lock()
	proc := s.p.running[running.Name]
	s.p.mu.Unlock()
	if proc == nil { // it has ended meanwhile
		return true, nil
	}
	return true, proc.Signal(sig, false)
}
