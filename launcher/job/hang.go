package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/launcher/firstfault"
	"github.com/argosy-ml/argosy/launcher/stacks"
)

const (
	// stacksLimit is how long the launcher waits for the stacks of a job that hangs.
	stacksLimit = 2 * time.Minute
	maxAsked    = 64 // pods
	askedAtOnce = 8
	// maxStackLines is how much of a rank's stack the message of the step has.
	maxStackLines = 20
)

// where asks each rank of a job that hangs for its stack. The answer names the ranks that hang first, then those that wait for them.
func (l *Launcher) where(ctx context.Context, s state) (text string, lines []string) {
	if l.Exec == nil {
		return "", nil
	}
	l.out.say("no rank prints anything: asking each of them for its stacks")
	ctx, cancel := context.WithTimeout(ctx, stacksLimit)
	defer cancel()
	found, refused := l.stacks(ctx, s)
	pods := l.Spec.ended(s.pods)
	for i, g := range stacks.Groups(found) {
		verb := "hangs in "
		if i > 0 {
			verb = "waits in "
			if !g.Waits {
				verb = "is in "
			}
		}
		text += "; " + ranksOf(pods, g.Stacks) + " " + verb + g.Where
		if i == 0 {
			lines = g.Stacks[0].Lines
		}
	}
	if none := len(found) == 0 || lines == nil; none && refused != nil {
		text += fmt.Sprintf("; no stacks: %v", refused)
	} else if none {
		text += "; no stacks: none of its programs is in Python 3, and the image has neither py-spy nor gdb"
	}
	return text, lines[:min(len(lines), maxStackLines)]
}

// stacks reads the stacks of all pods that train. The error names a pod that refused.
func (l *Launcher) stacks(ctx context.Context, s state) (found []stacks.Stack, refused error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	room := make(chan struct{}, askedAtOnce)
	asked := 0
	for _, pod := range s.pods {
		role, index := s.kind.place(pod)
		r := l.Spec.role(role)
		if r == nil || !r.Trains || pod.Status.Phase != corev1.PodRunning || asked == maxAsked {
			continue
		}
		asked++
		first, _, ranked := l.Spec.Ranks(role, index)
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			text, err := l.Exec(ctx, pod.Name, trainContainer(l.Spec, pod), stacks.Command())
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused = fmt.Errorf("pod %s: %w: the launcher's service account needs create and get of pods/exec", pod.Name, err)
			}
			for _, one := range stacks.Read(text) {
				if one.Rank == stacks.Unranked && ranked && s.kind != &mpiJob {
					one.Rank = first
				}
				if one.Rank != stacks.Unranked {
					found = append(found, one)
				}
			}
		})
	}
	wg.Wait()
	slices.SortStableFunc(found, func(a, b stacks.Stack) int { return a.Rank - b.Rank })
	return found, refused
}

// ranksOf names ranks, with the pod where there is one.
func ranksOf(pods []firstfault.Pod, all []stacks.Stack) string {
	if len(all) == 1 {
		rank := all[0].Rank
		if i := slices.IndexFunc(pods, func(p firstfault.Pod) bool {
			return p.First != firstfault.Unranked && p.First <= rank && rank <= p.Last
		}); i >= 0 {
			return fmt.Sprintf("rank %d on %s (%s)", rank, pods[i].Name, pods[i].Node)
		}
		return fmt.Sprintf("rank %d", rank)
	}
	var ranks []string
	for _, s := range all[:min(len(all), maxSilences)] {
		ranks = append(ranks, fmt.Sprint(s.Rank))
	}
	text := fmt.Sprintf("each of %d ranks (%s", len(all), strings.Join(ranks, ", "))
	if len(all) > maxSilences {
		text += ", ..."
	}
	return text + ")"
}
