package volumes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
)

// A volume that is made from objects of the API keeps its files in a folder of its own. The link ..data leads to that folder, and the names
// that programs open are links through ..data, so all files change at one moment. Kubernetes does the same, and programs that watch for
// changes rely on the name.
const (
	dataLink    = "..data"
	newDataLink = "..data_tmp"
)

// writeVolume makes a volume hold exactly these files. A pod with the right to mount could put links there; nothing outside the volume is
// touched all the same.
func writeVolume(folder string, files map[string]projected, gid *int64) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	old, err := root.Readlink(dataLink)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && holds(root, old, files) {
		return nil
	}
	made := time.Now().UTC().Format("..2006_01_02_15_04_05.") + strconv.FormatUint(rand.Uint64(), 36)
	if err := fillVolume(root, made, files, gid); err != nil {
		return errors.Join(err, root.RemoveAll(made))
	}
	if err := root.Remove(newDataLink); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.Symlink(made, newDataLink); err != nil {
		return err
	}
	if err := root.Rename(newDataLink, dataLink); err != nil {
		return err
	}
	return linkVolume(root, made, files)
}

// holds says whether a folder of a volume holds exactly these files.
func holds(volume *os.Root, folder string, files map[string]projected) bool {
	root, err := volume.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	different := errors.New("different")
	seen := 0
	err = beneath.Walk(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		want, ok := files[name]
		b, err := beneath.ReadIn(root, name, int64(len(want.data)))
		if err != nil || !ok || !bytes.Equal(b, want.data) {
			return different
		}
		seen++
		return nil
	})
	return err == nil && seen == len(files)
}

// fillVolume makes a folder of a volume with the files.
func fillVolume(volume *os.Root, folder string, files map[string]projected, gid *int64) error {
	if err := errors.Join(volume.Mkdir(folder, 0o755), volume.Chmod(folder, 0o755)); err != nil { // whatever the umask says
		return err
	}
	root, err := volume.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for name, f := range files {
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, f.data, 0o600); err != nil {
			return err
		}
		if err := root.Chmod(name, f.mode); err != nil {
			return err
		}
		if f.owner != nil {
			if err := root.Lchown(name, int(*f.owner), -1); err != nil {
				return fmt.Errorf("give %s to user %d: %w", name, *f.owner, err)
			}
		}
	}
	if gid == nil {
		return nil
	}
	return beneath.GiveGroup(root, *gid, 0o440)
}

// linkVolume makes the links that programs open, and removes those, and the data, that are no more.
func linkVolume(root *os.Root, data string, files map[string]projected) error {
	wanted := map[string]bool{data: true, dataLink: true}
	for name := range files {
		top, _, _ := strings.Cut(name, "/")
		wanted[top] = true
		err := root.Symlink(filepath.Join(dataLink, top), top)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			if err := root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
