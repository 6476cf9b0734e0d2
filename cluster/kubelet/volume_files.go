package kubelet

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The files of a volume made from objects of the API lie in a folder of their own, `..data` is a link to it, and what a
// program opens are links through that one. Changing it changes all files at one moment. Kubernetes does the same, and
// programs that watch for changes rely on the name.
const (
	dataLink    = "..data"
	newDataLink = "..data_tmp"
)

// writeVolume makes a volume hold exactly these files. It does nothing where it holds them already.
func writeVolume(folder string, files map[string]projected, gid *int64) error {
	old, err := os.Readlink(filepath.Join(folder, dataLink))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && holds(filepath.Join(folder, old), files) {
		return nil
	}
	made, err := os.MkdirTemp(folder, time.Now().UTC().Format("..2006_01_02_15_04_05."))
	if err != nil {
		return err
	}
	if err := fillVolume(made, files, gid); err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	if err := os.Remove(filepath.Join(folder, newDataLink)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Base(made), filepath.Join(folder, newDataLink)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(folder, newDataLink), filepath.Join(folder, dataLink)); err != nil {
		return err
	}
	return linkVolume(folder, filepath.Base(made), files)
}

// holds says whether a folder holds exactly these files.
func holds(folder string, files map[string]projected) bool {
	different := errors.New("different")
	seen := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if want, ok := files[name]; err != nil || !ok || !bytes.Equal(b, want.data) {
			return different
		}
		seen++
		return nil
	})
	return err == nil && seen == len(files)
}

func fillVolume(folder string, files map[string]projected, gid *int64) error {
	if err := os.Chmod(folder, 0o755); err != nil {
		return err
	}
	for name, f := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			return err
		}
		if err := os.Chmod(path, f.mode); err != nil {
			return err
		}
		if f.owner != nil {
			if err := os.Lchown(path, int(*f.owner), -1); err != nil {
				return fmt.Errorf("give %s to user %d: %w", name, *f.owner, err)
			}
		}
	}
	if gid == nil {
		return nil
	}
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return giveGroup(path, *gid, 0o440)
	})
}

// linkVolume makes the links that programs open, and removes those, and the data, that are no more.
func linkVolume(folder, data string, files map[string]projected) error {
	wanted := map[string]bool{data: true, dataLink: true}
	for name := range files {
		top, _, _ := strings.Cut(name, "/")
		wanted[top] = true
		err := os.Symlink(filepath.Join(dataLink, top), filepath.Join(folder, top))
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
