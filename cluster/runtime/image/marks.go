package image

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
)

// whiteout makes the device that overlayfs takes for a removed file. The kernel lets everybody make this one.
func whiteout(h beneath.Dir, name string) error { return unix.Mknodat(h.FD, name, unix.S_IFCHR, 0) }

// Attributes that mark a folder as opaque for overlayfs, so that the folder below stays hidden. Mounts by the machine's root use one,
// mounts in user namespaces the other.
const (
	opaqueOfRoot = "trusted.overlay.opaque"
	opaqueOfUser = "user.overlay.opaque"
)

// setOpaque makes overlayfs show nothing of the folder of the same name below.
func setOpaque(h beneath.Dir, trusted bool) error {
	attr := opaqueOfUser
	if trusted {
		attr = opaqueOfRoot
	}
	// A descriptor that is only a path has no attributes of its own, but the way to it has.
	return unix.Setxattr(h.Path("."), attr, []byte("y"), 0)
}

// setAttributes sets the extended attributes that mean something to a container: file capabilities, and users' own.
// Overlayfs' are left out: they could show files of places that are not the image's.
func setAttributes(h beneath.Dir, name string, records map[string]string) error {
	for key, value := range records {
		attr, ok := strings.CutPrefix(key, "SCHILY.xattr.")
		own := strings.HasPrefix(attr, "user.") && !strings.HasPrefix(attr, "user.overlay.")
		if !ok || attr != "security.capability" && !own {
			continue
		}
		err := unix.Lsetxattr(h.Path(name), attr, []byte(value), 0)
		// Not every file system has them, and not every user may give capabilities away.
		if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("attribute %s: %w", attr, err)
		}
	}
	return nil
}
