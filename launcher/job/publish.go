package job

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/launcher/pending"
)

// publishLimit bounds how long the launcher waits to have said what it waits for.
const publishLimit = 5 * time.Second

// publisher writes what the job waits for on the launcher's own pod, where the server reads it. Only changes are written.
type publisher struct {
	l       *Launcher
	written string
	mute    bool // it may not
}

// newPublisher goes on with what an earlier start of this launcher wrote on its pod, which may be nil.
func (l *Launcher) newPublisher(own *corev1.Pod) *publisher {
	p := &publisher{l: l, mute: own == nil, written: unwritten}
	if own == nil {
		return p
	}
	if before, ok := own.Annotations[pending.Annotation]; ok {
		p.written = before
	}
	return p
}

// unwritten differs from every sentence.
const unwritten = "\x00"

// say writes a sentence, or that there is nothing to wait for. One that could not be written is said again with the next look at the job.
func (p *publisher) say(ctx context.Context, sentence string) {
	if p.mute || sentence == p.written {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, publishLimit)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{pending.Annotation: sentence}}})
	if err != nil {
		return // strings always marshal
	}
	_, err = p.l.Pods.Patch(ctx, p.l.ID.Pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	switch {
	case err == nil:
		p.written = sentence
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
		p.mute = true
		p.l.out.say("the run page cannot show what the job waits for: the launcher's service account needs patch of pods: %v", err)
	}
}
