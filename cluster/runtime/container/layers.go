package container

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ownFolders are created for every container.
var ownFolders = []string{"/dev", "/proc", "/run", "/sys", "/tmp"}

// dataFS are the file systems that hold files of users; mounts of other kinds
// below a folder of the host (snap images, other containers' roots, kernel
// interfaces) are of no use to a pod and would only cost time.
var dataFS = []string{
	"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs",
	"ceph", "lustre", "gpfs", "beegfs", "fuseblk", "vfat", "exfat", "ntfs3", "tmpfs",
}

// Host is the machine as the sandbox sees it.
type Host struct {
	Root    string   // where its root file system is seen without what is mounted there; empty: nowhere but at /
	Covered []string // folders that are empty in containers
	Hidden  []string // folders that containers see covered; mounts below them become no layers
}

// Layers lists what a container's root is made of: the host's root file
// system in one, where that can be, or else its folders and links one by one,
// and the data file systems mounted below. Scratch is an existing empty folder
// on the file system that will hold what containers write; it is used to try
// each overlay once and is left empty.
func (h Host) Layers(scratch string, log *slog.Logger) ([]Layer, error) {
	entries, err := os.ReadDir("/")
	if err != nil {
		return nil, err
	}
	// An ordinary user may not: the mounts below the root would be lifted.
	top := Layer{Path: "/", Source: h.Root}
	if top.Kind, err = layerKind(top.source(), scratch); err != nil {
		return nil, err
	}
	var layers []Layer
	whole := top.Kind == Overlay
	if whole {
		layers = append(layers, top)
	}
	for _, e := range entries {
		path := "/" + e.Name()
		switch {
		case slices.Contains(ownFolders, path), e.Name() == "lost+found":
		case path == "/root" || slices.Contains(h.Covered, path):
			// A pod's own home: start-up files and keys of the cluster's owner must not change what a pod does.
			layers = append(layers, Layer{Path: path, Kind: Fresh})
		case whole && onRoot(path):
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return nil, err
			}
			layers = append(layers, Layer{Path: path, Kind: Symlink, Target: target})
		case e.IsDir():
			layers = append(layers, Layer{Path: path})
		}
	}
	mounts, err := hostMounts()
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		if !within(m.Path, h.Covered) && !within(m.Path, h.Hidden) {
			layers = append(layers, m)
		}
	}
	for _, c := range h.Covered {
		if strings.Count(c, "/") > 1 && !within(c, ownFolders) && !within(c, []string{"/root"}) {
			layers = append(layers, Layer{Path: c, Kind: Fresh})
		}
	}
	kept := layers[:0]
	for _, l := range layers {
		if l.Kind == "" {
			if l.Kind, err = layerKind(l.Path, scratch); err != nil {
				return nil, err
			}
			if l.Kind != Overlay {
				log.Info("not seen copy-on-write by pods", "folder", l.Path, "as", l.Kind)
			}
			// Below the top such a folder stays what the layer around it shows.
			if l.Kind != Overlay && strings.Count(l.Path, "/") > 1 {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept, nil
}

// onRoot says whether path lies on the root file system itself.
func onRoot(path string) bool {
	var top, st unix.Stat_t
	return unix.Stat("/", &top) == nil && unix.Lstat(path, &st) == nil && top.Dev == st.Dev
}

func hostMounts() ([]Layer, error) {
	points, err := MountPoints()
	if err != nil {
		return nil, err
	}
	var layers []Layer
	for _, p := range dataMounts(points) {
		// A file mounted over a file is seen through the overlay as what lies below it; no layer can be made of it.
		if fi, err := os.Stat(p); err == nil && fi.IsDir() {
			layers = append(layers, Layer{Path: p, ReadOnly: readOnly(points, p)})
		}
	}
	return layers, nil
}

// readOnly says whether what is seen at path, of all that is mounted there the last, cannot be written to.
func readOnly(all []MountPoint, path string) bool {
	for _, m := range slices.Backward(all) {
		if m.Path == path {
			return m.ReadOnly
		}
	}
	return false
}

// dataMounts returns, outermost first, where data file systems are mounted below the folders of the root.
func dataMounts(all []MountPoint) []string {
	var points []string
	for _, m := range all {
		data := slices.Contains(dataFS, m.Kind) || strings.HasPrefix(m.Kind, "fuse.")
		if data && strings.Count(m.Path, "/") > 1 && !within(m.Path, ownFolders) && !within(m.Path, []string{"/root"}) {
			points = append(points, m.Path)
		}
	}
	slices.SortFunc(points, byDepth)
	return slices.Compact(points)
}

func byDepth(a, b string) int {
	if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// within says whether path is one of the folders or lies below one.
func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return path == f || strings.HasPrefix(path, strings.TrimSuffix(f, "/")+"/")
	})
}

func layerKind(path, scratch string) (string, error) {
	if unix.Access(path, unix.R_OK|unix.X_OK) != nil {
		return Fresh, nil
	}
	for _, d := range []string{"up", "wk", "at"} {
		if err := os.MkdirAll(filepath.Join(scratch, d), 0o755); err != nil {
			return "", err
		}
	}
	defer func() {
		for _, d := range []string{"up", "wk", "at"} {
			_ = os.RemoveAll(filepath.Join(scratch, d)) // a leftover here is removed with the scratch folder itself
		}
	}()
	at := filepath.Join(scratch, "at")
	err := mountOverlay(escapeOption(path, true), filepath.Join(scratch, "up"), filepath.Join(scratch, "wk"), at)
	if err == nil {
		return Overlay, unix.Unmount(at, unix.MNT_DETACH)
	}
	// Some folders cannot be layered. When none can, this fails.
	if path == "/usr" {
		return "", fmt.Errorf("no overlay of %s with its upper layer in %s: %w (the data folder must lie on a local file system such as ext4, xfs or btrfs, "+
			"and the kernel must be 5.11 or newer: choose another folder with --home)", path, scratch, err)
	}
	return Mirror, nil
}

// mountOverlay shows lower, folders separated by colons, at target; what is written goes to upper.
func mountOverlay(lower, upper, work, target string) error {
	return unix.Mount("overlay", target, "overlay", 0, overlayOptions(lower, upper, work))
}

// overlayOptions are those of an overlay that is thrown away after use.
func overlayOptions(lower, upper, work string) string {
	// volatile: else the whole file system below is synced when a container's root goes.
	opts := "lowerdir=" + lower + ",upperdir=" + escapeOption(upper, false) + ",workdir=" + escapeOption(work, false) + ",volatile"
	// Without privilege over the host's file systems overlayfs must keep its marks in user.* attributes.
	if InUserNamespace() {
		opts += ",userxattr"
	}
	return opts
}

func escapeOption(path string, colon bool) string {
	path = strings.ReplaceAll(path, `\`, `\\`)
	path = strings.ReplaceAll(path, ",", `\,`)
	if colon {
		path = strings.ReplaceAll(path, ":", `\:`)
	}
	return path
}

// InUserNamespace says whether this process lives in a user namespace of its
// own, where root has no power over the host's files.
var InUserNamespace = sync.OnceValue(func() bool {
	ids, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(ids)), " ") != "0 0 4294967295"
})

// SingleID says whether the user namespace maps one user id only.
func SingleID() bool {
	ids, err := os.ReadFile("/proc/self/uid_map")
	fields := strings.Fields(string(ids))
	return err == nil && len(fields) == 3 && fields[2] == "1"
}
