package kubelet

import (
	"context"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/argosy-ml/argosy/cluster/podlog"
)

// AttachContainer joins a client to a running container until that ends or the
// client goes. What the container says comes out of its log, so a client that
// is slow keeps nobody waiting; what the client says goes to the container's
// stdin, where it has one.
func (e *executor) AttachContainer(ctx context.Context, _ string, _ types.UID, container string,
	in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize,
) error {
	if e.pod == nil {
		return errors.New("the pod does not run")
	}
	proc, err := e.pod.process(container)
	if err != nil {
		return err
	}
	r := &logReader{life: proc.life, take: func(entry podlog.Entry) error {
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
	}}
	if r.segment, r.at, err = tailStart(proc.life, 0); err != nil {
		return err
	}
	if in != nil || tty {
		stdin, done, err := proc.holder.Stdin(container)
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
		// Nobody waits for these: they end at the latest with the client's connection, which ends when we return.
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
	if err := r.follow(ctx, e.pod.k.folders); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
