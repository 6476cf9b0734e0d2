package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/argosy-ml/argosy/cluster/container"
)

// Refused says that the kernel refuses the namespaces that pods need, and how to mend it.
type Refused struct{ Finding Finding }

func (e *Refused) Error() string {
	return e.Finding.Says + ":\n  " + strings.Join(e.Finding.Mend, "\n  ")
}

// Namespaces makes the namespaces that the node will make, and changes a mount
// in them: some systems allow the first and refuse the second. The error is a
// *Refused when they are refused.
func Namespaces(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "version")
	if t, err := exec.LookPath("true"); err == nil {
		cmd = exec.CommandContext(ctx, t)
	}
	cmd.SysProcAttr = sandbox()
	if err := cmd.Run(); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		f := Facts{Root: os.Geteuid() == 0, Sysctls: sysctls(), Namespaces: refusal(err)}
		return &Refused{f.namespaces()}
	}
	return nil
}

// sandbox are the namespaces of the node. Go makes all mounts private after the
// unshare, which takes the rights that pods' mounts take.
func sandbox() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

func refusal(cause error) string {
	if os.Geteuid() == 0 {
		return fmt.Sprintf("the kernel refuses new mount and network namespaces (%v), in which pods run; they take CAP_SYS_ADMIN", cause)
	}
	return fmt.Sprintf("the kernel refuses user namespaces to ordinary users (%v), in which pods run; allow them, or run as root", cause)
}

// tryOverlays has this program try, in namespaces like the node's, whether the
// folder can hold what pods write. The answer is why not, empty if it can.
func tryOverlays(ctx context.Context, folder string) string {
	self, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	cmd := exec.CommandContext(ctx, self, "doctor", "try-overlays", folder)
	cmd.SysProcAttr = sandbox()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		return strings.TrimPrefix(strings.TrimSpace(errs.String()), "argosy-cluster: ")
	}
	return ""
}

// TryOverlays is the part of tryOverlays that runs in the namespaces. The folder is one of its own, empty before and after.
func TryOverlays(folder string) error {
	_, err := container.HostLayers(folder, slog.New(slog.NewTextHandler(io.Discard, nil)))
	return err
}
