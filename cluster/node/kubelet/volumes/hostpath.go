package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// HostFolder is a folder of this machine that pods may have as a volume, with all that is in it.
type HostFolder struct {
	named    string // as the owner of the cluster wrote it
	Path     string // without symbolic links
	readOnly bool
}

// HostFolders returns the folders that the owner of the cluster lists, and KeptPrograms. It follows symbolic links in their names now, and
// never again.
func HostFolders(listed []string) ([]HostFolder, error) {
	var folders []HostFolder
	for _, dir := range listed {
		path, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("--host-path %s: %w", dir, err)
		}
		folders = append(folders, HostFolder{named: dir, Path: path})
	}
	if programs, ok := keptPrograms(); ok {
		folders = append(folders, programs)
	}
	return folders, nil
}

// KeptPrograms makes and returns the folder in which the compiler of pipelines keeps programs whose functions are steps
// (compiler.keepProgram). It returns "" for an owner without a home folder.
func KeptPrograms() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(cache, "argosy", "programs")
	if os.MkdirAll(dir, 0o755) != nil { // the cluster's owner has no home folder, so there is nothing to hide
		return ""
	}
	return dir
}

// keptPrograms is KeptPrograms for pods, which only read there.
func keptPrograms() (folder HostFolder, ok bool) {
	dir := KeptPrograms()
	if dir == "" {
		return folder, false
	}
	path, err := filepath.EvalSymlinks(dir)
	return HostFolder{named: dir, Path: path, readOnly: true}, err == nil
}

// hostFolderOf finds the listed folder that a path lies in, the innermost, and the place in there.
func (n *Node) hostFolderOf(path string) (folder HostFolder, place string, ok bool) {
	path = filepath.Clean(path)
	longest := -1
	for _, f := range n.Host {
		for _, name := range []string{f.named, f.Path} {
			if rel, err := filepath.Rel(name, path); err == nil && filepath.IsLocal(rel) && len(name) > longest {
				folder, place, longest = f, rel, len(name)
			}
		}
	}
	return folder, place, longest >= 0
}

// hostPath is the machine's own file or folder: what a pod writes there stays. Only what the owner of the cluster lists is given to pods,
// and nothing of the cluster's own.
func (p *Pod) hostPath(v *corev1.HostPathVolumeSource) (string, error) {
	folder, place, ok := p.hostFolderOf(v.Path)
	if !ok {
		return "", podspec.Unusable("hostPath %s is not for pods: the cluster gives them only folders of this machine that its owner lists; start it with --host-path %s",
			v.Path, v.Path)
	}
	top, err := os.OpenFile(folder.Path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer top.Close()
	return v.Path, checkHostPath(v, top, place)
}

// checkHostPath looks at what lies at a place of a folder, and makes it where that is wanted. Pods write there: no link leads out.
func checkHostPath(v *corev1.HostPathVolumeSource, top *os.File, place string) error {
	kind := corev1.HostPathUnset
	if v.Type != nil {
		kind = *v.Type
	}
	fd, err := beneath.Open2(int(top.Fd()), place, 0, unix.RESOLVE_BENEATH)
	found := os.NewFile(uintptr(fd), v.Path)
	if errors.Is(err, fs.ErrNotExist) {
		switch kind {
		case corev1.HostPathUnset, corev1.HostPathDirectoryOrCreate:
			found, err = container.MakeBelow(top, place, unix.RESOLVE_BENEATH, true, 0o755)
		case corev1.HostPathFileOrCreate:
			found, err = container.MakeBelow(top, place, unix.RESOLVE_BENEATH, false, 0o644)
		}
	}
	var mode fs.FileMode
	switch {
	case errors.Is(err, unix.EXDEV) || errors.Is(err, container.ErrLeadsOut):
		return podspec.Unusable("hostPath %s: a symbolic link leads out of %s", v.Path, top.Name())
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("hostPath %s: %w", v.Path, err)
	case err == nil:
		defer found.Close()
		fi, err := found.Stat()
		if err != nil {
			return err
		}
		mode = fi.Mode()
	}
	if right, wanted := isOfKind(mode, err == nil, kind); !right {
		return podspec.Unusable("hostPath type check failed: %s is not a %s", v.Path, wanted)
	}
	return nil
}

// isOfKind says whether what is there is what a volume wants.
func isOfKind(mode fs.FileMode, there bool, kind corev1.HostPathType) (right bool, wanted string) {
	switch kind {
	case corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate:
		return mode.IsDir(), "directory"
	case corev1.HostPathFile, corev1.HostPathFileOrCreate:
		return there && mode.IsRegular(), "file"
	case corev1.HostPathSocket:
		return mode&fs.ModeSocket != 0, "socket file"
	case corev1.HostPathCharDev:
		return mode&fs.ModeCharDevice != 0, "character device"
	case corev1.HostPathBlockDev:
		return mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0, "block device"
	}
	return there, "file or directory"
}
