package mpijob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// attempts passes on the logs of the job's launcher pods, one attempt after the
// other, and reads them.
type attempts struct {
	l     *Launcher
	queue chan *corev1.Pod
	seen  map[types.UID]bool
	wg    sync.WaitGroup
	stop  context.CancelFunc

	// Of the newest attempt; to be read once close has returned.
	scanner *scrape.Scanner
	tail    *tail
	world   *scrape.World // as mpirun told it, nil when it did not
}

// maxAttempts is how many launcher pods can wait to be read.
const maxAttempts = 1024

func (l *Launcher) newAttempts(ctx context.Context) *attempts {
	ctx, stop := context.WithCancel(ctx)
	a := &attempts{l: l, queue: make(chan *corev1.Pod, maxAttempts), seen: map[types.UID]bool{}, stop: stop, tail: &tail{}}
	a.scanner = scrape.New(l.Spec.Metrics)
	a.wg.Go(func() {
		for pod := range a.queue {
			if ctx.Err() == nil {
				a.read(ctx, pod)
			}
		}
	})
	return a
}

// offer queues the pods whose launcher has begun and that were not offered before.
func (a *attempts) offer(pods []*corev1.Pod) {
	for _, pod := range pods {
		if !hasLog(pod) || a.seen[pod.UID] || len(a.seen) == maxAttempts {
			continue
		}
		a.seen[pod.UID] = true
		a.queue <- pod
	}
}

// close waits until everything offered is read, at most for grace.
func (a *attempts) close(grace time.Duration) {
	close(a.queue)
	done := make(chan struct{})
	go func() {
		a.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(grace):
		a.l.out.say("the job's log could not be read to its end within %s: the last lines may be missing", grace)
	}
	a.stop()
	<-done
}

func (a *attempts) read(ctx context.Context, pod *corev1.Pod) {
	if len(a.l.logged) > 0 {
		a.l.out.say("attempt %d in pod %s", len(a.l.logged)+1, pod.Name)
	}
	a.l.logged = append(a.l.logged, pod.Name)
	a.scanner, a.tail, a.world = scrape.New(a.l.Spec.Metrics), &tail{}, nil
	filter := scrape.NewMapFilter(io.MultiWriter(a.l.out, a.scanner, a.tail), wantsMap(a.l.Spec), func(w scrape.World) {
		a.world = &w
		a.l.sayWorld(w)
	})
	log := &podLog{pods: a.l.Pods, pod: pod.Name, container: containerLauncher, w: filter}
	err := log.copy(ctx)
	if err := errors.Join(filter.Close(), a.scanner.Close()); err != nil {
		a.l.out.say("%v", err)
	}
	if err != nil && ctx.Err() == nil {
		a.l.out.say("%v", err)
	}
}

// worldSize is the number of ranks as far as it is known, and whether it is sure.
func (a *attempts) worldSize() (ranks int, sure bool) {
	if a.world != nil {
		return a.world.Ranks, true
	}
	ranks = a.scanner.Ranks()
	return ranks, ranks >= a.l.Spec.World()
}

// sayWorld compares the ranks that mpirun starts with what was asked for.
func (l *Launcher) sayWorld(w scrape.World) {
	want := l.Spec.World()
	l.out.say("world size %d (requested %d) on %d %s", w.Ranks, want, len(w.Hosts), plural(len(w.Hosts), "host"))
	switch {
	case w.Ranks != want:
		l.out.say("warning: mpirun started %d of %d ranks (%s): check -np, -host and --map-by in the command, and that slots and GPUs agree",
			w.Ranks, want, l.Spec.size())
	case len(w.Hosts) < l.Spec.Workers:
		l.out.say("warning: the ranks run on %d of %d workers: check -host and --map-by in the command; a hostfile that mpirun does not read has the same effect",
			len(w.Hosts), l.Spec.Workers)
	}
}

// sayRanks reports on the world when mpirun printed no map.
func (l *Launcher) sayRanks(a *attempts) {
	if a.world != nil || len(l.logged) == 0 {
		return
	}
	want := l.Spec.World()
	switch ranks, sure := a.worldSize(); {
	case ranks == 0:
		l.out.say("the world size is not known: the output names no ranks")
	case sure:
		l.out.say("world size %d (requested %d), by the ranks named in the output", ranks, want)
	default:
		l.out.say("output came from %d of %d requested ranks: that the others ran is not known", ranks, want)
	}
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
		_ = body.Close()
	}
	if err != nil {
		l.out.say("the log of container %s of pod %s could not be read: %v", name, pod.Name, err)
	}
	return fmt.Sprintf("container %s of pod %s %s", name, pod.Name, ending(why)), t.last()
}
