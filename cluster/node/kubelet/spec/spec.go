// Package spec describes a container to argosy-podinit, and reads what the container leaves to say.
package spec

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/argo"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/etc"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/hostimage"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/images"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/security"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/volumes"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/emissary"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

// Node is what all containers of a node have in common.
type Node struct {
	Base     hostimage.Image // the machine's own files
	Home     string          // data folder
	HostShow []string        // folders of the machine that containers on its files see although they are hidden
	Helpers  string          // folder with argosy-podinit, argoexec and argosy-launcher
}

// Container is what is known of a container when it is about to start.
type Container struct {
	Node        *Node
	Pod         *corev1.Pod
	Of          *corev1.Container
	Dir         string // the pod's
	Addr        netip.Addr
	GPUs        []machine.GPU // the pod's
	Step        *argo.Step    // nil unless it is a step of an Argo workflow
	Image       *images.Image // nil: the machine's own files
	Environment environment.Variables
	Volumes     *volumes.Pod
	Folders     map[string]string // of the volumes
	Warn        func(reason, format string, args ...any)
}

// Spec describes the container to argosy-podinit.
func (c *Container) Spec() (*container.Spec, error) {
	spec := c.Node.Base.Spec
	spec.Process = container.Process{Env: c.Environment.List(), Dir: c.Environment.Expand(c.Of.WorkingDir), FakeOwners: c.Node.Base.SingleID}
	spec.Scratch, spec.Shm = filepath.Join(c.Dir, "containers", c.Of.Name), filepath.Join(c.Dir, sandbox.Shm)
	spec.Devices = admission.Devices(admission.GPUsOf(c.Pod, c.GPUs, c.Of))
	rights := security.Container{Pod: c.Pod, Container: c.Of, SingleID: c.Node.Base.SingleID, Warn: c.Warn}
	if c.Image != nil {
		own, err := etc.Files(c.Pod, c.Addr)
		if err != nil {
			return nil, err
		}
		c.Image.Use(&spec, own)
		rights.ImageUser = c.Image.Config.User
	}
	if err := c.command(&spec); err != nil {
		return nil, err
	}
	if err := rights.Apply(&spec); err != nil {
		return nil, err
	}
	var err error
	if spec.Mounts, err = c.mounts(); err != nil {
		return nil, err
	}
	return &spec, nil
}

// command finds what the container runs.
func (c *Container) command(spec *container.Spec) error {
	for _, a := range slices.Concat(c.Of.Command, c.Of.Args) {
		spec.Args = append(spec.Args, c.Environment.Expand(a))
	}
	if c.Image != nil {
		spec.Args = c.Image.Args(spec.Args[:len(c.Of.Command)], spec.Args[len(c.Of.Command):])
		if len(spec.Args) == 0 {
			return podspec.Unusable("container %s has no command, and neither has image %s: set `command`", c.Of.Name, c.Of.Image)
		}
	} else if err := hostCommand(c.Of, spec); err != nil {
		return err
	}
	c.Step.Quick(c.Of, spec.Args)
	if c.Step.PlainEmissary(c.Of) {
		// What Argo wraps around the command is played by argosy-podinit itself.
		spec.Args[0], spec.SelfExec = "argosy-podinit", true
		if c.Step.Wait {
			spec.Args = slices.Insert(spec.Args, 2, emissary.Alone)
		}
		if c.Step.Plain(c.Of) {
			spec.Args = slices.Insert(spec.Args, 2, emissary.Plain)
		}
	}
	return nil
}

// hostCommand finds the command of a container on this machine's files.
func hostCommand(c *corev1.Container, spec *container.Spec) error {
	program := podspec.Program(c.Image)
	if len(c.Command) == 0 && program != "" {
		spec.Args = slices.Insert(spec.Args, 0, program)
	}
	if len(c.Command) == 0 && program == "" {
		return fmt.Errorf("container %s has no command: image %s stands for this machine, which has no entry point; set `command`", c.Name, c.Image)
	}
	return nil
}

// mounts are the volumes of a container and what every container is given.
func (c *Container) mounts() ([]container.Mount, error) {
	mounts := []container.Mount{{Source: filepath.Join(c.Dir, sandbox.Etc), Target: etc.Folder}}
	for _, shared := range hostimage.Both(filepath.Join(c.Node.Home, "shared")) {
		mounts = append(mounts, container.Mount{Source: shared, Target: shared, ReadOnly: true, Optional: true})
	}
	if c.Image == nil {
		for _, dir := range c.Node.HostShow {
			mounts = append(mounts, container.Mount{Source: dir, Target: dir, ReadOnly: true, Optional: true})
		}
	}
	if program := podspec.Program(c.Of.Image); program != "" {
		mounts = append(mounts, container.Mount{Source: filepath.Join(c.Node.Helpers, program), Target: podspec.Programs[program], ReadOnly: true})
	}
	for _, m := range c.Of.VolumeMounts {
		mount, err := c.Volumes.MountOf(m, c.Folders, c.Environment)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, mount)
	}
	mounts = append(mounts, c.Step.Mounts(filepath.Join(c.Node.Helpers, "argoexec"))...)
	if c.Of.TerminationMessagePath != "" {
		file := filepath.Join(c.Dir, sandbox.Messages, c.Of.Name)
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			return nil, err
		}
		if err := os.Chmod(file, 0o666); err != nil {
			return nil, err
		}
		mounts = append(mounts, container.Mount{Source: file, Target: c.Of.TerminationMessagePath})
	}
	return mounts, nil
}
