package emissary

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// saveOutputs puts what the step wrote into its own file system where the executor finds it.
func (s *step) saveOutputs() error {
	for _, p := range s.template.Outputs.Parameters {
		if p.ValueFrom != nil && p.ValueFrom.Path != "" && !s.template.onVolume(p.ValueFrom.Path) {
			if err := s.saveParameter(p.ValueFrom.Path); err != nil {
				return err
			}
		}
	}
	for _, a := range s.template.Outputs.Artifacts {
		if a.Path != "" && !s.template.onVolume(a.Path) {
			if err := s.saveArtifact(a.Path); err != nil {
				return fmt.Errorf("failed to tarball the output %s: %w", a.Path, err)
			}
		}
	}
	return nil
}

func (s *step) saveParameter(path string) error {
	from, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // it may have a default; whoever reports the outputs knows
		return nil
	}
	if err != nil {
		return fmt.Errorf("failed to open %s: %w", path, err)
	}
	defer from.Close()
	name := s.folder + "/outputs/parameters/" + path
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("failed to copy %s to %s: %w", path, name, err)
	}
	return nil
}

// saveArtifact packs a file or folder. One that does not exist may be optional; whoever reports the outputs knows.
func (s *step) saveArtifact(path string) (err error) {
	path = filepath.Clean(path)
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() && !fi.IsDir() {
		return fmt.Errorf("%s is not a regular file or directory", path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	to := filepath.Join(s.folder, "outputs", "artifacts", path+".tgz")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := gzip.NewWriter(f)
	t := tar.NewWriter(z)
	return errors.Join(pack(t, path), t.Close(), z.Close())
}

// pack writes a file, or a folder and what is in it, under its last name. A link given as output means what it leads to.
func pack(t *tar.Writer, output string) error {
	root, err := filepath.EvalSymlinks(output)
	if err != nil {
		return err
	}
	return filepath.Walk(root, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		link := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if link, err = os.Readlink(path); err != nil {
				return err
			}
		}
		header, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		header.Name = filepath.Join(filepath.Base(output), rel)
		if err := t.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(t, f)
		return errors.Join(err, f.Close())
	})
}
