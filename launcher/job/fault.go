package job

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/launcher/firstfault"
)

// explain has a job that failed say which rank failed first, of what, once all is read that its pods printed.
func (l *Launcher) explain(failed *FailedError, logs *reader) {
	if failed == nil || failed.pods == nil || len(logs.read) == 0 {
		return
	}
	pods := l.Spec.ended(failed.pods)
	if l.Spec.Kind.oneByOne { // only the newest attempt counts
		newest := logs.read[len(logs.read)-1]
		for i := range pods {
			if pods[i].Starts && pods[i].Name != newest {
				pods[i].Starts, pods[i].Exit = false, nil
			}
		}
	}
	fault := logs.faults.Find(pods)
	if fault == nil || fault.Words == "" {
		return
	}
	text := fault.String()
	if l.Spec.Pods() == 1 && l.Spec.Kind != &mpiJob {
		text = fault.Words // the job has no other rank
	}
	failed.Cause = fmt.Sprintf("%s failed: %s", failed.job, text)
	if len(fault.Lines) > 0 {
		failed.lines = fault.Lines
	}
}

// ended is how the pods of a job ended, for finding who failed first.
func (s *Spec) ended(pods []*corev1.Pod) []firstfault.Pod {
	all := make([]firstfault.Pod, 0, len(pods))
	for _, pod := range pods {
		role, index := s.Kind.place(pod)
		p := firstfault.Pod{
			Name: pod.Name, Place: fmt.Sprintf("%s-%d", role, index), Node: pod.Spec.NodeName,
			First: firstfault.Unranked, Last: firstfault.Unranked, Starts: s.Kind.speaks != "" && role == s.Kind.speaks,
		}
		if first, last, ok := s.Ranks(role, index); ok {
			p.First, p.Last = first, last
		}
		p.Removed, p.Message = removed(pod)
		if _, t := failedContainer(pod); t != nil {
			// The workers of mpirun do nothing themselves: they end when the job does, unless their memory is full.
			if s.Kind.speaks == "" || p.Starts || t.Reason == "OOMKilled" {
				p.Exit = &firstfault.Ending{Code: int(t.ExitCode), Reason: t.Reason, Message: t.Message, At: t.FinishedAt.Time}
			}
		}
		all = append(all, p)
	}
	return all
}

// removed says why the cluster itself ended a pod, empty when it did not.
func removed(pod *corev1.Pod) (why, message string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return cmp.Or(pod.Status.Reason, c.Reason), cmp.Or(pod.Status.Message, c.Message)
		}
	}
	if pod.Status.Phase == corev1.PodFailed && len(pod.Status.ContainerStatuses) == 0 || pod.Status.Reason == "Evicted" || pod.Status.Reason == "NodeLost" {
		return pod.Status.Reason, pod.Status.Message
	}
	return "", ""
}
