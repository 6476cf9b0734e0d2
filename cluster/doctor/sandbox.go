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

	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/idmap"
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
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "version")
	if t, err := exec.LookPath("true"); err == nil {
		cmd = exec.CommandContext(ctx, t)
	}
	if err := runInSandbox(cmd); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		f := Facts{Root: os.Geteuid() == 0, Sysctls: sysctls(), Namespaces: refusal(err)}
		return &Refused{f.namespaces()}
	}
	return nil
}

// runInSandbox runs a command in namespaces like the node's, in which the folders are its own. Go makes all mounts private after
// the unshare, which takes the rights that pods' mounts take.
func runInSandbox(cmd *exec.Cmd, folders ...string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET}
	if idmap.Needed() {
		ids, err := idmap.Free()
		if err != nil {
			return err
		}
		view, err := idmap.NewView(ids, folders...)
		if err != nil {
			return err
		}
		if err := view.Start(cmd); err != nil {
			return err
		}
		return cmd.Wait()
	}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return cmd.Run()
}

func refusal(cause error) string {
	if os.Geteuid() == 0 {
		return fmt.Sprintf("the kernel refuses new user, mount and network namespaces (%v), in which pods run; they take CAP_SYS_ADMIN", cause)
	}
	return fmt.Sprintf("the kernel refuses user namespaces to ordinary users (%v), in which pods run; allow them, or run as root", cause)
}

// tryOverlays has this program try, in namespaces like the node's, whether the
// folder can hold what pods write. The answer is why not, empty if it can.
func tryOverlays(ctx context.Context, folder string) string {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "doctor", "try-overlays", folder)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := runInSandbox(cmd, folder); err != nil {
		if errs.Len() == 0 {
			return err.Error()
		}
		return strings.TrimPrefix(strings.TrimSpace(errs.String()), "argosy-cluster: ")
	}
	return ""
}

// TryOverlays is the part of tryOverlays that runs in the namespaces. The folder is one of its own, empty before and after.
func TryOverlays(folder string) error {
	_, err := container.Host{Hidden: []string{folder}}.Layers(folder, slog.New(slog.NewTextHandler(io.Discard, nil)))
	return err
}
