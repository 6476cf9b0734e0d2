package stream

import (
	"context"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/logs"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// AttachContainer joins a client to a running container until one of the two ends. The client reads the container's log, so that a slow
// client does not slow the container down. The client's input goes to the container's stdin, if it has one.
func (e *executor) AttachContainer(ctx context.Context, _ string, _ types.UID, container string,
	in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize,
) error {
	if e.pod == nil {
		return errors.New("the pod does not run")
	}
	c, err := e.pod.Container(container)
	if err != nil {
		return err
	}
	say := func(entry podlog.Entry) error {
		to := out
		if entry.Stream == podlog.Stderr {
			to = errOut
		}
		if to == nil {
			return nil
		}
		if entry.Whole {
			entry.Text = append(entry.Text, '\n')
		}
		_, err := to.Write(entry.Text)
		return err
	}
	follow, err := logs.FollowNew(c.Log, e.watcher, say)
	if err != nil {
		return err
	}
	if in != nil || tty {
		stdin, done, err := c.Holder.Stdin(container)
		if err != nil {
			return err
		}
		hangUp := func() {
			_ = stdin.Close()
			_ = done.Close()
		}
		defer hangUp()
		stop := make(chan struct{})
		defer close(stop)
		// Nothing waits for these: they end at the latest with the client's connection, which ends when we return.
		if tty {
			go resizeTerminal(stdin, resize, stop)
		}
		if in != nil {
			go func() {
				_, _ = io.Copy(stdin, in)
				if !tty { // a terminal stays, for what it still shows
					hangUp()
				}
			}()
		}
	}
	if err := follow(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
