package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/launcher/firstfault"
	"github.com/argosy-ml/argosy/launcher/scrape"
)

// reader passes on what the job's pods print, and reads it. Pods of jobs that run one pod at a time are further
// attempts, read one after the other; those of other jobs are read side by side, each line with a tag in front.
type reader struct {
	l     *Launcher
	queue chan *corev1.Pod
	seen  map[types.UID]bool
	wg    sync.WaitGroup
	ctx   context.Context // ends when close gives up
	stop  context.CancelFunc

	// Guards what follows while pods are read. It is to be read once close has returned.
	mu      sync.Mutex
	read    []string         // the pods
	ranks   map[string]bool  // places whose pod began
	scanner *scrape.Scanner  // of the newest attempt
	tail    *tail            // of the same
	tails   map[string]*tail // of each pod
	stops   map[types.UID]context.CancelFunc
	world   *scrape.World // as mpirun told it, nil when it did not
	faults  *firstfault.Log
	proof   *proof
	on      *environment
}

// maxAttempts is how many pods can wait to be read.
const maxAttempts = 1024

func (l *Launcher) newReader(ctx context.Context) *reader {
	ctx, stop := context.WithCancel(ctx)
	r := &reader{
		l: l, queue: make(chan *corev1.Pod, maxAttempts), seen: map[types.UID]bool{}, ctx: ctx, stop: stop,
		ranks: map[string]bool{}, scanner: scrape.New(l.Spec.Metrics), tail: &tail{}, tails: map[string]*tail{}, stops: map[types.UID]context.CancelFunc{}, on: newEnvironment(),
		faults: firstfault.New(), proof: &proof{spec: l.Spec},
	}
	r.wg.Go(func() {
		for pod := range r.queue {
			if ctx.Err() == nil {
				r.attempt(pod)
			}
		}
	})
	return r
}

// offer reads the pods that have begun and were not offered before.
func (r *reader) offer(pods []*corev1.Pod) {
	kind := r.l.Spec.Kind
	for _, pod := range pods {
		if beganAt(pod, kind.container).IsZero() || r.seen[pod.UID] || kind.oneByOne && len(r.seen) == maxAttempts {
			continue
		}
		r.seen[pod.UID] = true
		if kind.oneByOne {
			r.queue <- pod
			continue
		}
		ctx, stop := context.WithCancel(r.ctx)
		r.stops[pod.UID] = stop
		r.wg.Go(func() { r.alongside(ctx, pod) })
	}
}

// leaveGrace is how much longer pods are read that still run when their job is over.
const leaveGrace = 2 * time.Second

// leave stops reading pods that still run a little later: parameter servers do not end by themselves.
func (r *reader) leave(pods []*corev1.Pod) {
	for _, pod := range pods {
		if stop := r.stops[pod.UID]; stop != nil && containerState(pod, r.l.Spec.Kind.container).Terminated == nil {
			time.AfterFunc(leaveGrace, stop)
		}
	}
}

// close waits until everything offered is read, at most for grace.
func (r *reader) close(grace time.Duration) {
	close(r.queue)
	done := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(grace):
		r.l.out.say("the job's log could not be read to its end within %s: the last lines may be missing", grace)
	}
	r.stop()
	<-done
	_ = r.scanner.Close() // never fails
}

// attempt reads a pod of its own.
func (r *reader) attempt(pod *corev1.Pod) {
	if len(r.read) > 0 {
		r.l.out.say("attempt %d in pod %s", len(r.read)+1, pod.Name)
	}
	r.read = append(r.read, pod.Name)
	r.scanner, r.tail, r.world = scrape.New(r.l.Spec.Metrics), &tail{}, nil
	r.mu.Lock()
	r.faults = firstfault.New()
	r.mu.Unlock()
	r.proof.again()
	stream := r.faults.Pod(pod.Name)
	defer func() { _ = stream.Close() }() // never fails
	hears := r.on.listens()
	defer hears.Close()
	counts := r.proof.listens()
	defer counts.Close()
	w := io.MultiWriter(r.l.out, r.scanner, r.tail, hears, counts, stream)
	if r.l.Spec.Kind == &mpiJob {
		placed := func(world scrape.World) {
			r.world = &world
			r.faults.Placed(world.At)
			r.proof.ran(world, time.Now())
			r.l.sayWorld(world)
		}
		hydra := scrape.Lines(func(rank int, line []byte) {
			if world, ok := scrape.HydraWorld(line); ok && rank == scrape.Unranked {
				placed(world)
			}
		})
		defer hydra.Close()
		filter := scrape.NewMapFilter(io.MultiWriter(w, hydra), wantsMap(r.l.Spec), placed)
		defer func() {
			if err := filter.Close(); err != nil {
				r.l.out.say("%v", err)
			}
		}()
		w = filter
	}
	r.copy(r.ctx, pod, w, stream.At)
}

// alongside reads a pod among others.
func (r *reader) alongside(ctx context.Context, pod *corev1.Pod) {
	place, rank := r.l.Spec.rank(pod)
	own := &tail{}
	r.mu.Lock()
	r.read = append(r.read, pod.Name)
	if role := r.l.Spec.role(roleOf(r.l.Spec.Kind, pod)); role != nil && role.Trains {
		r.ranks[place] = true
	}
	r.tails[pod.Name] = own
	alone := r.l.Spec.Pods() == 1
	r.mu.Unlock()
	hears := r.on.listens()
	defer hears.Close()
	counts := r.proof.listens()
	defer counts.Close()
	stream := r.faults.Pod(pod.Name)
	defer func() { _ = stream.Close() }() // never fails

	tagged := &tagWriter{to: lockedWriter{&r.mu, io.MultiWriter(r.l.out, r.scanner, r.tail)}}
	if !alone {
		tagged.tag = fmt.Sprintf("[%s,%d]<stdout>:", place, rank)
	}
	r.copy(ctx, pod, io.MultiWriter(own, hears, counts, stream, tagged), stream.At)
	if err := tagged.close(); err != nil {
		r.l.out.say("%v", err)
	}
}

// log is that of the newest attempt.
func (r *reader) log() *firstfault.Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults
}

func roleOf(kind *Kind, pod *corev1.Pod) string {
	role, _ := kind.place(pod)
	return role
}

func (r *reader) copy(ctx context.Context, pod *corev1.Pod, w io.Writer, at func(time.Time)) {
	log := &podLog{pods: r.l.Pods, pod: pod.Name, container: r.l.Spec.Kind.container, w: w, stamped: at, again: pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure}
	if err := log.copy(ctx); err != nil && ctx.Err() == nil {
		r.l.out.say("%v", err)
	}
}

// lockedWriter makes writes of several pods follow one another.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// tagWriter passes whole lines on with a tag in front of each, in the form of mpirun's.
type tagWriter struct {
	to   io.Writer
	tag  string
	line []byte
}

// tagLine is how much of a line without an end is held back.
const tagLine = 64 << 10

func (t *tagWriter) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		if len(t.line) == 0 {
			t.line = append(t.line, t.tag...)
		}
		t.line = append(t.line, p[:end]...)
		if p[end-1] != '\n' && len(t.line) > tagLine {
			t.line = append(t.line, '\n')
		}
		p = p[end:]
		if t.line[len(t.line)-1] == '\n' {
			if err := t.flush(); err != nil {
				return 0, err
			}
		}
	}
	return total, nil
}

func (t *tagWriter) flush() error {
	_, err := t.to.Write(t.line)
	t.line = t.line[:0]
	return err
}

// close passes on a last line that has no end, and gives it one.
func (t *tagWriter) close() error {
	if len(t.line) == 0 {
		return nil
	}
	t.line = append(t.line, '\n')
	return t.flush()
}

// worldSize is the number of ranks as far as it is known, and whether it is sure.
func (r *reader) worldSize() (ranks int, sure bool) {
	spec := r.l.Spec
	switch {
	case r.world != nil:
		return r.world.Ranks, true
	case spec.Kind == &mpiJob:
		ranks = r.scanner.Ranks()
		return ranks, ranks >= spec.World()
	}
	return len(r.ranks) * spec.Slots, true
}

// sayWorld compares the ranks that mpirun starts with what was asked for.
func (l *Launcher) sayWorld(w scrape.World) {
	want := l.Spec.World()
	l.out.say("world size %d (requested %d) on %d %s", w.Ranks, want, len(w.Hosts), plural(len(w.Hosts), "host"))
	switch {
	case w.Ranks != want:
		l.out.say("warning: mpirun started %d of %d ranks (%s): check -np, -host and --map-by in the command, and that slots and GPUs agree",
			w.Ranks, want, l.Spec.size())
	case len(w.Hosts) < l.Spec.Pods():
		l.out.say("warning: the ranks run on %d of %d workers: check -host and --map-by in the command; a hostfile that mpirun does not read has the same effect",
			len(w.Hosts), l.Spec.Pods())
	}
}

// sayWorldSize reports on the world when mpirun printed no map.
func (l *Launcher) sayWorldSize(r *reader) {
	if r.world != nil || len(r.read) == 0 || l.Spec.Kind == &singleJob {
		return
	}
	want := l.Spec.World()
	ranks, sure := r.worldSize()
	switch {
	case ranks == 0:
		l.out.say("the world size is not known: the output names no ranks")
	case l.Spec.Kind != &mpiJob:
		l.out.say("world size %d (requested %d), by the pods that ran", ranks, want)
	case sure:
		l.out.say("world size %d (requested %d), by the ranks named in the output", ranks, want)
	default:
		l.out.say("output came from %d of %d requested ranks: that the others ran is not known", ranks, want)
	}
}

// failedJob finds out what a failed job failed of.
func (l *Launcher) failedJob(ctx context.Context, s state) *FailedError {
	what := s.kind.Title + " " + s.job.GetName()
	if pod := guilty(s); pod != nil {
		if t := containerState(pod, s.kind.container).Terminated; t != nil && t.ExitCode != 0 {
			who := "command"
			if l.Spec.Pods() > 1 && s.kind.speaks == "" {
				who, _ = l.Spec.rank(pod)
			}
			return &FailedError{Code: int(t.ExitCode), Cause: fmt.Sprintf("%s failed: %s %s", what, who, ending(t)), pod: pod.Name, over: true, job: what, pods: s.pods}
		}
		if c, _ := failedContainer(pod); c != "" {
			cause, lines := l.failure(ctx, pod)
			return &FailedError{Code: 1, Cause: what + " failed: " + cause, lines: lines, over: true}
		}
	}
	return &FailedError{Code: 1, Cause: what + " failed" + because(s.status.reason, s.status.message), over: true, job: what, pods: s.pods}
}

// guilty is the pod that made the job fail: the newest attempt, or the first that failed by itself. Those that were
// killed because of it end by a signal.
func guilty(s state) *corev1.Pod {
	pods := s.speakers()
	if s.kind.oneByOne {
		if len(pods) == 0 {
			return nil
		}
		return pods[len(pods)-1]
	}
	var failed []*corev1.Pod
	for _, pod := range pods {
		if _, why := failedContainer(pod); why != nil {
			failed = append(failed, pod)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return slices.MinFunc(failed, func(a, b *corev1.Pod) int {
		_, x := failedContainer(a)
		_, y := failedContainer(b)
		return cmp.Or(x.FinishedAt.Compare(y.FinishedAt.Time), boolOrder(x.ExitCode > 128)-boolOrder(y.ExitCode > 128))
	})
}

// failure explains a pod that failed before the job could run, and shows what its container printed.
func (l *Launcher) failure(ctx context.Context, pod *corev1.Pod) (cause string, lines []string) {
	name, why := failedContainer(pod)
	if why == nil {
		return fmt.Sprintf("pod %s %s", pod.Name, problem(pod)), nil
	}
	var t tail
	body, err := l.Pods.GetLogs(pod.Name, &corev1.PodLogOptions{Container: name}).Stream(ctx)
	if err == nil {
		_, err = io.Copy(io.MultiWriter(l.out, &t), body)
		err = errors.Join(err, body.Close())
	}
	if err != nil {
		l.out.say("the log of container %s of pod %s could not be read: %v", name, pod.Name, err)
	}
	return fmt.Sprintf("container %s of pod %s %s", name, pod.Name, ending(why)), t.last()
}
