package images

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// StopSignal parses the stop signal of an image. It is SIGTERM if the image sets none, or an unknown one.
func StopSignal(s string) syscall.Signal {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < 65 {
		return syscall.Signal(n)
	}
	if s != "" && !strings.HasPrefix(s, "SIG") {
		s = "SIG" + s
	}
	return cmp.Or(unix.SignalNum(s), unix.SIGTERM)
}

// Use changes the spec of a container from this machine's files to the image.
func (u *Image) Use(spec *container.Spec, own []container.File) {
	spec.Image = &container.Image{Folder: u.folder, Layers: u.layers}
	for v := range u.Config.Volumes {
		spec.Image.Folders = append(spec.Image.Folders, v)
	}
	spec.Layers, spec.Private, spec.Files, spec.Over, spec.Empty = nil, nil, own, "", nil
	if spec.Dir == "" {
		spec.Dir = u.Config.WorkingDir
	}
}

// Args returns the command line of a container, which may set a command, arguments, both or neither.
func (u *Image) Args(command, args []string) []string {
	switch {
	case len(command) > 0:
		return slices.Concat(command, args)
	case len(args) > 0:
		return slices.Concat(u.Config.Entrypoint, args)
	}
	return slices.Concat(u.Config.Entrypoint, u.Config.Cmd)
}
