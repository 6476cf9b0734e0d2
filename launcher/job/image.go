package job

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
)

// imageScript looks in an image for what a kind of job needs, its first argument, and for the programs that follow.
//
//go:embed image.sh
var imageScript string

const (
	// imagePatience is how long an image is pulled for its check. The job that waits for the same image tells why it takes longer.
	imagePatience = 10 * time.Minute
	// imageRoom is how long the check waits for a node: its pod asks for nothing.
	imageRoom = 10 * time.Second
	imageTick = 200 * time.Millisecond
)

// checksImages tells whether images are checked: where the user says so, else where the job would hold devices meanwhile.
func (s *Spec) checksImages() bool {
	if s.CheckImage != nil {
		return *s.CheckImage
	}
	devices := s.RDMA
	for _, n := range s.Devices {
		devices = devices || n > 0
	}
	return devices || slices.ContainsFunc(s.Roles, func(r Role) bool { return r.GPUs > 0 })
}

// checkImages runs each image of the job in a pod without devices, before the job holds any. It fails if an image lacks something that
// its pods need. A check without an answer does not fail: the job's own pods meet the same trouble, and the launcher explains it there.
func (l *Launcher) checkImages(ctx context.Context, name string) error {
	if !l.Spec.checksImages() {
		return nil
	}
	if _, err := l.Jobs.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return nil //nolint:nilerr // it exists, or its creation will tell
	}
	began := time.Now()
	checked := map[string]bool{}
	for i := range l.Spec.Roles {
		role := &l.Spec.Roles[i]
		if checked[role.Image] {
			continue
		}
		checked[role.Image] = true
		text, err := l.runImage(ctx, imagePod(l.Spec, l.ID, role, name+"-check-"+rand.String(5)))
		if err != nil {
			l.out.say("the image %s was not checked: %v", role.Image, err)
			continue
		}
		missing, notes := imageSays(text)
		for _, note := range notes {
			l.out.say("the image %s %s", role.Image, note)
		}
		if len(missing) > 0 {
			return fmt.Errorf("the image %s has no %s (CheckImage or --check-image=false skips this check)", role.Image, strings.Join(missing, "; and no "))
		}
	}
	l.out.say("checked the image in %s", time.Since(began).Round(100*time.Millisecond))
	return nil
}

// imagePod runs the script in the image where the role's pods may run, but with none of their devices, volumes and limits.
func imagePod(s *Spec, id Identity, role *Role, name string) *corev1.Pod {
	command := append([]string{"sh", "-c", verbatim(imageScript), "sh", s.Kind.Command}, programs(role.Command)...)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: id.Namespace, Annotations: maps.Clone(s.Annotations), Labels: map[string]string{labelNode: id.hash()}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, NodeSelector: maps.Clone(role.Selector), Tolerations: s.Tolerations, ServiceAccountName: s.ServiceAccount,
			Containers: []corev1.Container{{Name: containerMain, Image: role.Image, ImagePullPolicy: corev1.PullPolicy(s.ImagePullPolicy), Command: command, Env: []corev1.EnvVar{noGPUs}}},
		},
	}
	if id.Pod != nil {
		pod.OwnerReferences = workflowOwner(id.Pod)
	}
	for _, secret := range s.ImagePullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
	}
	return pod
}

// programs are those of a command that its image must have. A command of several commands may find them by a path that it sets.
func programs(command string) (found []string) {
	if strings.ContainsAny(strings.TrimSpace(command), ";&|\n`") || strings.Contains(command, "PATH=") {
		return nil
	}
	for i, word := range strings.Fields(command) {
		known := slices.Contains([]string{"python", "python3", "mpirun", "mpiexec", "torchrun", "horovodrun"}, word)
		if known && (i == 0 || strings.HasPrefix(word, "python")) && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}

// runImage is what the pod prints.
func (l *Launcher) runImage(ctx context.Context, pod *corev1.Pod) (string, error) {
	if _, err := l.Pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		_ = l.Pods.Delete(clean, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}) // it goes with the workflow otherwise
	}()
	began := time.Now()
	err := wait.PollUntilContextTimeout(ctx, imageTick, imagePatience, true, func(ctx context.Context) (bool, error) {
		have, err := l.Pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return imageRan(have, time.Since(began))
	})
	if err != nil {
		return "", err
	}
	text, err := l.Pods.GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	return string(text), err
}

// imageRan tells whether the pod has run its script, or why it will not.
func imageRan(pod *corev1.Pod, waited time.Duration) (bool, error) {
	for _, c := range pod.Status.ContainerStatuses {
		switch {
		case c.Name != containerMain:
		case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
			return true, nil
		case c.State.Terminated != nil:
			return false, fmt.Errorf("its shell %s", ending(c.State.Terminated))
		case c.State.Waiting != nil && slices.Contains([]string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerError", "RunContainerError"}, c.State.Waiting.Reason):
			return false, fmt.Errorf("%s: %s", c.State.Waiting.Reason, c.State.Waiting.Message)
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		return false, fmt.Errorf("its pod failed: %s", pod.Status.Message)
	case pod.Spec.NodeName == "" && waited > imageRoom:
		return false, errors.New("no node takes its pod yet")
	}
	return false, nil
}

// imageSays reads what the script prints: what the image lacks, and what is worth a word.
func imageSays(text string) (missing, notes []string) {
	mpi := []string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if what, ok := strings.CutPrefix(line, "argosy-no "); ok {
			missing = append(missing, what)
		} else if file, ok := strings.CutPrefix(line, "argosy-own "); ok {
			notes = append(notes, "has a driver library of its own, "+file+": remove it if a program finds no GPU, for it may hide the node's")
		} else if line != "" {
			mpi = append(mpi, line)
		}
	}
	if len(mpi) > 0 {
		version := mpi[0]
		if strings.HasPrefix(version, "HYDRA") && len(mpi) > 1 { // MPICH's has its version in the next line
			version = "MPICH's mpirun, " + strings.Join(strings.Fields(mpi[1]), " ")
		}
		notes = append(notes, "has "+version)
	}
	return missing, notes
}
