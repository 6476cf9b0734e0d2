package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

const (
	mountRetry    = time.Second
	mountPatience = 3 // attempts before a user is told; what a pod needs is often made a moment after it
)

// missingError says that something a pod refers to does not exist yet.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what + " not found" }

func missing(format string, args ...any) error { return &missingError{fmt.Sprintf(format, args...)} }

// unsupportedError says that a pod wants what will never be there.
type unsupportedError struct{ what string }

func (e *unsupportedError) Error() string { return e.what }

// mountVolumes makes the pod's volumes, waiting for what they are made from.
func (p *pod) mountVolumes() error {
	p.volumes = map[string]string{}
	told := false
	for _, v := range p.obj.Spec.Volumes {
		for attempt := 1; ; attempt++ {
			folder, err := p.mountVolume(v)
			if err == nil {
				p.volumes[v.Name] = folder
				break
			}
			var unsupported *unsupportedError
			if errors.As(err, &unsupported) {
				err = fmt.Errorf("volume %s: %w", v.Name, err)
				p.event(corev1.EventTypeWarning, "FailedMount", "%v", err)
				return err
			}
			if attempt%30 == mountPatience {
				message := fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", v.Name, err)
				p.event(corev1.EventTypeWarning, "FailedMount", "%s", message)
				p.update(func(s *corev1.PodStatus) { explainWaiting(s, message) }) // for who does not read events
				told = true
			}
			delay := min(time.Duration(attempt)*50*time.Millisecond, mountRetry)
			if !p.pauseFor(delay, nil) {
				return fmt.Errorf("volume %s: %w", v.Name, err)
			}
		}
	}
	if told {
		p.update(func(s *corev1.PodStatus) { explainWaiting(s, "") })
	}
	return nil
}

func (p *pod) mountVolume(v corev1.Volume) (string, error) {
	switch {
	case v.HostPath != nil:
		return p.hostPath(v.HostPath)
	case v.PersistentVolumeClaim != nil:
		folder, err := p.claim(v.PersistentVolumeClaim.ClaimName)
		if err == nil && !v.PersistentVolumeClaim.ReadOnly {
			err = p.ownFolder(folder)
		}
		return folder, err
	case v.Ephemeral != nil:
		folder, err := p.ephemeral(v.Name)
		if err == nil {
			err = p.ownFolder(folder)
		}
		return folder, err
	}
	folder := p.volumeFolder(v)
	if err := makeFolder(folder, 0o777); err != nil {
		return "", err
	}
	switch {
	case v.EmptyDir != nil:
		if err := p.emptyDir(folder, v.EmptyDir); err != nil {
			return "", err
		}
		return folder, p.ownFolder(folder)
	case isProjected(v):
		files, err := p.project(p.starting, v)
		if err != nil {
			return "", err
		}
		return folder, writeVolume(folder, files, p.volumeGroup())
	}
	return "", &unsupportedError{"the embedded cluster has emptyDir, configMap, secret, projected, downwardAPI, hostPath, persistentVolumeClaim and ephemeral volumes, and this is none of them"}
}

// volumeFolder is where a volume lies that comes and goes with the pod. What is made from objects of the API, secrets among them,
// never reaches a disk. Neither does what the emissary leaves of a step that has nothing to tell: a few bytes.
func (p *pod) volumeFolder(v corev1.Volume) string {
	if isProjected(v) || v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory || v.Name == argoVolume && p.argo.quiet() {
		return p.path(memoryFolder, "volumes", v.Name)
	}
	return p.path("volumes", v.Name)
}

// emptyDir makes a folder a file system in memory where that is wanted. A limit of one on disk is kept by keepStorage.
func (p *pod) emptyDir(folder string, v *corev1.EmptyDirVolumeSource) error {
	switch v.Medium {
	case corev1.StorageMediumDefault:
		return nil
	case corev1.StorageMediumMemory:
	default:
		return &unsupportedError{fmt.Sprintf("emptyDir on medium %s is not known to the embedded cluster: use Memory, or none", v.Medium)}
	}
	options := "mode=0777"
	if size := v.SizeLimit; size != nil && !size.IsZero() {
		options += fmt.Sprintf(",size=%d", size.Value())
	}
	return unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// volumeGroup is the group that volumes belong to; nil where they keep theirs.
func (p *pod) volumeGroup() *int64 {
	if s := p.obj.Spec.SecurityContext; s != nil && !p.k.base.single {
		return s.FSGroup
	}
	return nil
}

// ownFolder gives a volume that pods write, with all that is in it, to the pod's fsGroup.
func (p *pod) ownFolder(folder string) error {
	gid := p.volumeGroup()
	if gid == nil {
		return nil
	}
	const writable = 0o660
	if policy := p.obj.Spec.SecurityContext.FSGroupChangePolicy; policy != nil && *policy == corev1.FSGroupChangeOnRootMismatch {
		var st unix.Stat_t
		if err := unix.Stat(folder, &st); err == nil && int64(st.Gid) == *gid && st.Mode&(unix.S_ISGID|writable) == unix.S_ISGID|writable {
			return nil
		}
	}
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return giveGroup(path, *gid, writable)
	})
}

// giveGroup gives one file or folder to a group. Pods may change names meanwhile: what was opened is what is changed.
func giveGroup(path string, gid int64, bits uint32) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if err := unix.Fchownat(fd, "", -1, int(gid), unix.AT_EMPTY_PATH); err != nil {
		return fmt.Errorf("give %s to group %d: %w", path, gid, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
		bits |= unix.S_ISGID | 0o110
	}
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), st.Mode&0o7777|bits)
}

// refreshVolumes brings volumes made from objects of the API up to date.
func (p *pod) refreshVolumes(ctx context.Context) error {
	var errs []error
	for _, v := range p.obj.Spec.Volumes {
		if !isProjected(v) || ctx.Err() != nil {
			continue
		}
		files, err := p.project(ctx, v)
		if err == nil {
			err = writeVolume(p.volumeFolder(v), files, p.volumeGroup())
		}
		// A pod keeps what it has when its source disappears.
		var gone *missingError
		var broken *unusableError
		if err != nil && !errors.As(err, &gone) && !errors.As(err, &broken) && !p.isEnding() {
			errs = append(errs, fmt.Errorf("volume %s: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}

// hostPath is the machine's own file or folder: what a pod writes there stays. Nothing of the cluster's own is given away.
func (p *pod) hostPath(v *corev1.HostPathVolumeSource) (string, error) {
	real, err := realPath(v.Path)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(p.k.base.hidden, func(h string) bool { return below(real, h) }) {
		return "", unusable("hostPath %s belongs to the cluster and is not for pods", v.Path)
	}
	return v.Path, checkHostPath(v)
}

// realPath is a path without symbolic links; the end of it may not exist yet.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) || path == "/" {
		return real, err
	}
	parent, err := realPath(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// below says whether path is folder or lies in it.
func below(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func checkHostPath(v *corev1.HostPathVolumeSource) error {
	kind := corev1.HostPathUnset
	if v.Type != nil {
		kind = *v.Type
	}
	fi, err := os.Stat(v.Path)
	if errors.Is(err, fs.ErrNotExist) {
		switch kind {
		case corev1.HostPathUnset, corev1.HostPathDirectoryOrCreate:
			return os.MkdirAll(v.Path, 0o755)
		case corev1.HostPathFileOrCreate:
			return os.WriteFile(v.Path, nil, 0o644)
		}
	}
	var right bool
	var wanted string
	mode := fs.FileMode(0)
	if err == nil {
		mode = fi.Mode()
	}
	switch kind {
	case corev1.HostPathUnset:
		return err
	case corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate:
		right, wanted = mode.IsDir(), "directory"
	case corev1.HostPathFile, corev1.HostPathFileOrCreate:
		right, wanted = err == nil && mode.IsRegular(), "file"
	case corev1.HostPathSocket:
		right, wanted = mode&fs.ModeSocket != 0, "socket file"
	case corev1.HostPathCharDev:
		right, wanted = mode&fs.ModeCharDevice != 0, "character device"
	case corev1.HostPathBlockDev:
		right, wanted = mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0, "block device"
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !right {
		return unusable("hostPath type check failed: %s is not a %s", v.Path, wanted)
	}
	return nil
}
