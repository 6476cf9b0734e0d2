package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
)

// Limits of one layer. They are far above what real images have.
const (
	maxEntries = 4_000_000
	maxLayer   = 256 << 30
	// A layer may be this much larger than its archive; what only just fits is zeros.
	bombFloor = 1 << 30
	bombRatio = 250
)

// Rules say how an archive's entries become files.
type Rules struct {
	MaxBytes   int64 // of all files together; 0 means maxLayer
	MaxEntries int   // 0 means maxEntries
	// Owner maps an owner in the archive to one that can be given away here; nil leaves every file with this process's user.
	Owner func(uid, gid int) (int, int)
	// Trusted keeps overlayfs' marks in trusted.* attributes, which takes privilege over the file system, instead of user.*.
	Trusted bool
}

// Unpack writes the files of a layer, given as an uncompressed tar archive, into
// the existing folder dir in the form that overlayfs reads: a whiteout becomes a
// character device 0:0, an opaque folder gets an attribute.
//
// The archive is taken for hostile. No entry can be written, linked or removed
// outside dir, whatever symbolic links the archive makes; links are kept as they
// are and lead to where a container's own root ends. Devices are left out, and
// so are attributes that overlayfs itself would obey. It fails when the archive
// is larger than the rules or the disk allow.
func Unpack(ctx context.Context, archive io.Reader, dir string, rules Rules) error {
	u, err := newUnpacker(dir, rules)
	if err != nil {
		return err
	}
	defer u.close()
	t := tar.NewReader(archive)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return u.finishFolders()
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if u.entries++; u.entries > u.rules.MaxEntries {
			return fmt.Errorf("more than %d entries in a layer", u.rules.MaxEntries)
		}
		if err := u.entry(h, t); err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, err)
		}
	}
}

// unpacker is one Unpack.
type unpacker struct {
	rules   Rules
	root    beneath.Tree
	entries int
	written int64
	disk    diskGuard
	// folders get their modes and times last: a folder may be read-only, and writing into it changes its time.
	folders map[string]*tar.Header
}

func newUnpacker(dir string, rules Rules) (*unpacker, error) {
	if rules.MaxBytes == 0 {
		rules.MaxBytes = maxLayer
	}
	if rules.MaxEntries == 0 {
		rules.MaxEntries = maxEntries
	}
	root, err := beneath.Open(dir)
	if err != nil {
		return nil, err
	}
	return &unpacker{rules: rules, root: root, disk: diskGuard{dir: dir}, folders: map[string]*tar.Header{}}, nil
}

func (u *unpacker) close() { u.root.Close() }

// Marks of the layer format, see https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts.
const (
	whiteoutPrefix = ".wh."
	whiteoutMeta   = ".wh..wh."
	whiteoutOpaque = ".wh..wh..opq"
)

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader { // a comment
		return nil
	}
	name, err := inside(h.Name)
	if err != nil {
		return err
	}
	if name == "." {
		if h.Typeflag == tar.TypeDir {
			u.folders[name] = h
		}
		return nil
	}
	folder, base := path.Split(name)
	dir, err := u.root.Folder(folder)
	if err != nil {
		return err
	}
	switch {
	case base == whiteoutOpaque:
		return setOpaque(dir, u.rules.Trusted)
	case strings.HasPrefix(base, whiteoutMeta): // of a storage driver long gone
		return nil
	case strings.HasPrefix(base, whiteoutPrefix):
		return u.whiteout(dir, strings.TrimPrefix(base, whiteoutPrefix))
	}
	return u.place(h, name, dir, base, content)
}

// whiteout hides name of the layers below, and leaves this layer's own.
func (u *unpacker) whiteout(dir beneath.Dir, name string) error {
	if name == "" || name == "." || name == ".." {
		return errors.New("a whiteout of nothing")
	}
	kind, err := dir.Kind(name)
	if err != nil || kind != 0 {
		return err
	}
	return whiteout(dir, name)
}

func (u *unpacker) place(h *tar.Header, name string, dir beneath.Dir, base string, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir, tar.TypeReg, tar.TypeGNUSparse, tar.TypeSymlink, tar.TypeLink, tar.TypeFifo:
	case tar.TypeChar, tar.TypeBlock: // a container's devices are its runtime's business
		return nil
	default:
		return fmt.Errorf("entries of type %q do not belong in a layer", h.Typeflag)
	}
	hidden, err := u.makeRoom(h, name, dir, base)
	if err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		u.folders[name] = h
		if err := dir.MakeFolder(base); err != nil || !hidden {
			return err
		}
		sub, err := u.root.Folder(name)
		if err != nil {
			return err
		}
		return setOpaque(sub, u.rules.Trusted)
	case tar.TypeLink:
		return u.hardLink(h, dir, base)
	case tar.TypeSymlink:
		err = dir.Symlink(h.Linkname, base)
	case tar.TypeFifo:
		err = dir.Fifo(base)
	default:
		return u.file(h, dir, base, content)
	}
	if err != nil {
		return err
	}
	return u.describe(h, dir, base)
}

// makeRoom removes what an earlier entry of the layer left in the place of this
// one; a folder stays for a folder. Hidden says that it was a whiteout: a folder
// in its place must not show the one below.
func (u *unpacker) makeRoom(h *tar.Header, name string, dir beneath.Dir, base string) (hidden bool, err error) {
	kind, err := dir.Kind(base)
	if err != nil || kind == 0 || kind == unix.S_IFDIR && h.Typeflag == tar.TypeDir {
		return false, err
	}
	if err := dir.Remove(base, kind); err != nil {
		return false, err
	}
	delete(u.folders, name)
	return kind == unix.S_IFCHR, nil
}

// hardLink links to a file of the same layer.
func (u *unpacker) hardLink(h *tar.Header, dir beneath.Dir, base string) error {
	target, err := inside(h.Linkname)
	if err != nil {
		return fmt.Errorf("its target: %w", err)
	}
	folder, name := path.Split(target)
	from, err := u.root.Find(folder)
	if err != nil {
		return fmt.Errorf("a hard link to %q, which the layer does not have before it: %w", h.Linkname, err)
	}
	defer from.Close()
	kind, err := from.Kind(name)
	if err != nil {
		return err
	}
	if kind != unix.S_IFREG && kind != unix.S_IFLNK {
		return fmt.Errorf("a hard link to %q, which must be an earlier file of the layer", h.Linkname)
	}
	return from.Link(name, dir, base)
}

func (u *unpacker) file(h *tar.Header, dir beneath.Dir, base string, content io.Reader) error {
	f, err := dir.Create(base)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.MultiWriter(counter{u}, &u.disk, f), content)
	if err == nil {
		err = u.describe(h, dir, base)
	}
	return errors.Join(err, f.Close())
}

// counter is a writer that keeps the layer's limit.
type counter struct{ u *unpacker }

func (c counter) Write(b []byte) (int, error) {
	if c.u.written += int64(len(b)); c.u.written > c.u.rules.MaxBytes {
		return 0, fmt.Errorf("the layer unpacks to more than %d bytes, which its archive's size does not account for", c.u.rules.MaxBytes)
	}
	return len(b), nil
}

// describe gives a new file its owner, mode, attributes and time, in an order in which none undoes another.
func (u *unpacker) describe(h *tar.Header, dir beneath.Dir, base string) error {
	if u.rules.Owner != nil {
		uid, gid := u.rules.Owner(h.Uid, h.Gid)
		if err := dir.Own(base, uid, gid); err != nil {
			return err
		}
	}
	if h.Typeflag != tar.TypeSymlink {
		if err := dir.Chmod(base, uint32(h.Mode)&0o7777); err != nil {
			return err
		}
		if err := setAttributes(dir, base, h.PAXRecords); err != nil {
			return err
		}
	}
	return dir.SetTime(base, modified(h))
}

// modified is the time of an entry; one that no file system can hold becomes the epoch.
func modified(h *tar.Header) time.Time {
	if s := h.ModTime.Unix(); s < 0 || s > 1<<33 {
		return time.Unix(0, 0)
	}
	return h.ModTime
}

// finishFolders describes the folders, inner ones first.
func (u *unpacker) finishFolders() error {
	names := make([]string, 0, len(u.folders))
	for name := range u.folders {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	for _, name := range names {
		folder, base := path.Split(name)
		dir, err := u.root.Find(folder)
		if err == nil {
			var kind uint32
			// A later entry may have put something else in the place of a folder around it.
			if kind, err = dir.Kind(base); err == nil && kind == unix.S_IFDIR {
				err = u.describe(u.folders[name], dir, base)
			}
			dir.Close()
		}
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
			return fmt.Errorf("folder %q: %w", name, err)
		}
	}
	return nil
}

// inside is a name of an archive as a path relative to the layer's root.
func inside(name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", errors.New("a name with a zero byte")
	}
	if slices.Contains(strings.Split(name, "/"), "..") {
		return "", errors.New("a name that leads out of the layer")
	}
	if clean := path.Clean("/" + name); clean != "/" {
		return clean[1:], nil
	}
	return ".", nil
}
