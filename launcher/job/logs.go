package job

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// podLog copies the log of a container as it grows. When the connection breaks
// it goes on behind the last byte it had: no line is lost and none comes twice.
type podLog struct {
	pods      corev1client.PodInterface
	pod       string
	container string
	w         io.Writer
	// stamped, if set, gets the time of the line that is written next.
	stamped func(time.Time)

	// again: the pod starts a container that failed again, and the log goes on with the next one. What a container
	// printed that failed before its log could be opened is lost: only the newest one is read.
	again bool

	at position
}

// position is how far a log has been read. The log is asked for with the time of
// each line, and a line is known by its time and its number among those of the
// same time.
type position struct {
	time    time.Time
	lines   int   // whole lines read that carry this time
	partial int64 // bytes read of the line after them
}

// Faults that no new connection cures.
var (
	errWrite = errors.New("pass the log on")
	errStamp = errors.New("the lines of the log carry no time")
)

// copy returns when the container has ended and all of its log was read, or its pod is gone.
func (l *podLog) copy(ctx context.Context) error {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = 200*time.Millisecond, 5*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		before := l.at
		err := l.pass(ctx)
		if l.at != before {
			retry.Reset()
		}
		return struct{}{}, err
	}, backoff.WithBackOff(retry), backoff.WithMaxElapsedTime(0))
	return err
}

// errBroken is a connection that broke before the container ended.
var errBroken = errors.New("the connection broke")

// pass reads the log to where its stream ends.
func (l *podLog) pass(ctx context.Context) error {
	err := l.stream(ctx, true)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errWrite), errors.Is(err, errStamp):
		return backoff.Permanent(err)
	case apierrors.IsForbidden(err):
		return backoff.Permanent(fmt.Errorf("read the log of pod %s: %w: the launcher's service account needs the right to get pods/log", l.pod, err))
	}
	// The stream ends with the container, but also with the connection: look which it was.
	if ended, gone := l.ended(ctx); gone {
		return backoff.Permanent(fmt.Errorf("pod %s is gone, and the rest of its log with it", l.pod))
	} else if ended && err == nil && l.stream(ctx, false) == nil {
		return nil
	}
	return errBroken
}

func (l *podLog) ended(ctx context.Context) (ended, gone bool) {
	pod, err := l.pods.Get(ctx, l.pod, metav1.GetOptions{})
	if err != nil {
		return false, apierrors.IsNotFound(err)
	}
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return true, false
	}
	t := containerState(pod, l.container).Terminated
	return t != nil && (!l.again || t.ExitCode == 0), false
}

func (l *podLog) stream(ctx context.Context, follow bool) error {
	options := &corev1.PodLogOptions{Container: l.container, Follow: follow, Timestamps: true}
	if !l.at.time.IsZero() {
		options.SinceTime = &metav1.Time{Time: l.at.time} // whole seconds: some lines come again
	}
	body, err := l.pods.GetLogs(l.pod, options).Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return l.read(body)
}

// read passes on the part of a stream that it has not read before.
func (l *podLog) read(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	known := l.at // where the previous stream stopped
	seen := 0     // whole lines of that time met again
	for {
		stamp, err := readStamp(br)
		if err != nil {
			return ignoreEOF(err)
		}
		var skip int64
		switch {
		case stamp.Before(known.time):
			skip = -1
		case stamp.Equal(known.time) && seen < known.lines:
			seen++
			skip = -1
		case stamp.Equal(known.time) && seen == known.lines:
			seen++
			skip = known.partial
		default:
			known = position{} // past what was read before: the clock may even go back now
		}
		if err := l.line(br, stamp, skip); err != nil {
			return ignoreEOF(err)
		}
	}
}

// line passes on one line as it comes, less its first skip bytes; all of it when
// skip is negative.
func (l *podLog) line(br *bufio.Reader, stamp time.Time, skip int64) error {
	fresh := skip >= 0
	if fresh && l.stamped != nil {
		l.stamped(stamp)
	}
	if fresh && skip == 0 && !stamp.Equal(l.at.time) {
		l.at = position{time: stamp}
	}
	for {
		if _, err := br.Peek(1); err != nil {
			return err
		}
		chunk, _ := br.Peek(br.Buffered())
		end := len(chunk)
		if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			end = i + 1
		}
		chunk = chunk[:end]
		whole := chunk[end-1] == '\n'
		if fresh {
			drop := min(skip, int64(len(chunk)))
			skip -= drop
			if _, err := l.w.Write(chunk[drop:]); err != nil {
				return fmt.Errorf("%w: %w", errWrite, err)
			}
			if whole {
				l.at.lines, l.at.partial = l.at.lines+1, 0
			} else {
				l.at.partial += int64(len(chunk)) - drop
			}
		}
		if _, err := br.Discard(end); err != nil {
			return err
		}
		if whole {
			return nil
		}
	}
}

// readStamp reads the time in front of a line.
func readStamp(br *bufio.Reader) (time.Time, error) {
	text, err := br.ReadSlice(' ')
	if errors.Is(err, bufio.ErrBufferFull) {
		return time.Time{}, errStamp
	}
	if err != nil {
		return time.Time{}, err
	}
	stamp, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", errStamp, err)
	}
	return stamp, nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// containerState is the state of a pod's container, the zero value when unknown.
func containerState(pod *corev1.Pod, name string) corev1.ContainerState {
	for _, s := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
		if s.Name == name {
			return s.State
		}
	}
	return corev1.ContainerState{}
}
