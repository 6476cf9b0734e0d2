// Package volumes makes the volumes of pods.
package volumes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/objects"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
)

// Node is what the volumes of all pods have in common.
type Node struct {
	Client   kubernetes.Interface
	Tokens   *Tokens
	Claims   string       // folder with the volumes of the storage class `local`
	Host     []HostFolder // folders of the machine that pods may have
	SingleID bool         // there is one user id only, so nothing changes owners
}

// Pod makes the volumes of one pod.
type Pod struct {
	*Node
	Obj     *corev1.Pod
	Objects objects.Reader
	Fields  environment.Fields
	Held    *HeldTokens
	Disk    string // folder of volumes on the disk
	Memory  string // folder of volumes in memory
	Shm     string // the pod's /dev/shm
	Small   string // name of an emptyDir that is kept in memory because it stays small; may be empty
	// Played says whether the kubelet itself does the work of a container, which then needs no memory.
	Played func(*corev1.Container) bool
}

// Mount makes a volume, and returns its folder.
func (p *Pod) Mount(ctx context.Context, v corev1.Volume) (string, error) {
	switch {
	case v.HostPath != nil:
		return p.hostPath(v.HostPath)
	case v.PersistentVolumeClaim != nil:
		folder, err := p.claim(ctx, v.PersistentVolumeClaim.ClaimName)
		if err == nil && !v.PersistentVolumeClaim.ReadOnly {
			err = p.giveFolder(folder)
		}
		return folder, err
	case v.Ephemeral != nil:
		folder, err := p.ephemeral(ctx, v.Name)
		if err == nil {
			err = p.giveFolder(folder)
		}
		return folder, err
	}
	folder := p.Folder(v)
	if err := MakeFolder(folder, 0o777); err != nil {
		return "", err
	}
	switch {
	case v.EmptyDir != nil:
		if err := p.emptyDir(folder, v.EmptyDir); err != nil {
			return "", err
		}
		return folder, p.giveFolder(folder)
	case isProjected(v):
		files, err := p.project(ctx, v)
		if err != nil {
			return "", err
		}
		return folder, writeVolume(folder, files, p.group())
	}
	return "", podspec.Unsupported("the embedded cluster supports only emptyDir, configMap, secret, projected, downwardAPI, hostPath, persistentVolumeClaim and ephemeral volumes")
}

// Folder returns the place of a volume that comes and goes with the pod. What is made from objects of the API, secrets among them, never
// reaches a disk.
func (p *Pod) Folder(v corev1.Volume) string {
	if isProjected(v) || v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory || p.Small != "" && v.Name == p.Small {
		return filepath.Join(p.Memory, v.Name)
	}
	return filepath.Join(p.Disk, v.Name)
}

// emptyDir mounts a file system in memory if the volume asks for it. The kubelet adds up what lies on the disk, and enforces its limit.
func (p *Pod) emptyDir(folder string, v *corev1.EmptyDirVolumeSource) error {
	switch v.Medium {
	case corev1.StorageMediumDefault:
		return nil
	case corev1.StorageMediumMemory:
	default:
		return podspec.Unsupported("emptyDir on medium %s is not known to the embedded cluster: use Memory, or none", v.Medium)
	}
	options := "mode=0777"
	if size := p.inMemory(v); size > 0 {
		options += fmt.Sprintf(",size=%d", size)
	}
	return unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// group returns the group that gets the volumes, or nil.
func (p *Pod) group() *int64 {
	if s := p.Obj.Spec.SecurityContext; s != nil && !p.SingleID {
		return s.FSGroup
	}
	return nil
}

// giveFolder gives a writable volume, with all that is in it, to the pod's fsGroup.
func (p *Pod) giveFolder(folder string) error {
	gid := p.group()
	if gid == nil {
		return nil
	}
	const writable = 0o660
	if policy := p.Obj.Spec.SecurityContext.FSGroupChangePolicy; policy != nil && *policy == corev1.FSGroupChangeOnRootMismatch {
		var st unix.Stat_t
		if err := unix.Stat(folder, &st); err == nil && int64(st.Gid) == *gid && st.Mode&(unix.S_ISGID|writable) == unix.S_ISGID|writable {
			return nil
		}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return beneath.GiveGroup(root, *gid, writable)
}

// Refresh updates the volumes that are made from objects of the API. A volume whose source has disappeared keeps its files.
func (p *Pod) Refresh(ctx context.Context) error {
	var errs []error
	for _, v := range p.Obj.Spec.Volumes {
		if !isProjected(v) || ctx.Err() != nil {
			continue
		}
		files, err := p.project(ctx, v)
		if err == nil {
			err = writeVolume(p.Folder(v), files, p.group())
		}
		var gone *podspec.MissingError
		var broken *podspec.UnusableError
		if err != nil && !errors.As(err, &gone) && !errors.As(err, &broken) {
			errs = append(errs, fmt.Errorf("volume %s: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}
