package emissary

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxParameter is the most bytes of an output parameter. What Kubernetes stores is far less.
const maxParameter = 64 << 20

// saves says whether there is anything to save.
func (s *step) saves() bool {
	return s.container == "main" && len(s.template.Outputs.Parameters)+len(s.template.Outputs.Artifacts) > 0
}

// saveOutputs puts what the step wrote into its own file system where the executor finds it.
func (s *step) saveOutputs(ctx context.Context) error {
	for _, p := range s.template.Outputs.Parameters {
		if p.ValueFrom != nil && p.ValueFrom.Path != "" && !s.template.onVolume(p.ValueFrom.Path) {
			if err := s.saveParameter(ctx, p.ValueFrom.Path); err != nil {
				return err
			}
		}
	}
	for _, a := range s.template.Outputs.Artifacts {
		if a.Path != "" && !s.template.onVolume(a.Path) {
			if err := s.saveArtifact(ctx, a.Path); err != nil {
				return fmt.Errorf("failed to tarball the output %s: %w", a.Path, err)
			}
		}
	}
	return nil
}

func (s *step) saveParameter(ctx context.Context, path string) error {
	from, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // it may have a default, which the report of the outputs fills in
		return nil
	}
	if err != nil {
		return fmt.Errorf("failed to open %s: %w", path, err)
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return fmt.Errorf("failed to open %s: %w", path, err)
	}
	name := s.folder + "/outputs/parameters/" + path
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(reader{ctx, from}, maxParameter+1))
	switch {
	case info.IsDir(): // in the words of Argo's executor
		err = &os.PathError{Op: "write", Path: name, Err: os.NewSyscallError("copy_file_range", unix.EISDIR)}
	case err == nil && n > maxParameter:
		err = fmt.Errorf("an output parameter has at most %d bytes: make it an artifact", maxParameter)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("failed to copy %s to %s: %w", path, name, err)
	}
	return nil
}

// saveArtifact packs a file or folder. A missing one may be optional, which the report of the outputs decides.
func (s *step) saveArtifact(ctx context.Context, path string) (err error) {
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
	return errors.Join(pack(ctx, t, path), t.Close(), z.Close())
}

// pack writes a file, or a folder and what is in it, under its last name. A link given as output means what it leads to.
func pack(ctx context.Context, t *tar.Writer, output string) error {
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
		if err := errors.Join(ctx.Err(), fits(path, info)); err != nil {
			return err
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
		return errors.Join(copyData(ctx, t, f, info.Size()), f.Close())
	})
}
