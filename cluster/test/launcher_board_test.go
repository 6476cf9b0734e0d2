package test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// boardImage is an image whose program tensorboard is the stand-in of board/.
func boardImage(t *testing.T) v1.Image {
	t.Helper()
	program := filepath.Join(t.TempDir(), "board")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./board")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(program)
	require.NoError(t, err)
	img, err := mutate.AppendLayers(empty.Image, layerOf(t, [2]string{"bin/tensorboard", string(text)}))
	require.NoError(t, err)
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH, RootFS: mustConfig(t, img).RootFS, Config: v1.Config{Env: []string{"PATH=/bin"}},
	})
	require.NoError(t, err)
	return img
}

func mustConfig(t *testing.T, img v1.Image) *v1.ConfigFile {
	t.Helper()
	file, err := img.ConfigFile()
	require.NoError(t, err)
	return file
}

// TensorBoard serves what the job writes, to the job's own pods by its Service, also of a second attempt, and goes with
// the job. The first attempt fails once it has seen its TensorBoard.
func TestTensorBoardServesWhatTheJobWrites(t *testing.T) {
	t.Parallel()
	c := up(t, t.TempDir(), "--images", "auto")
	saved := filepath.Join(t.TempDir(), "board.tar")
	const image = "localhost:1/board:v1"
	saveTo(t, saved, image, boardImage(t))
	code, out := exitCode(t, "image", "load", "--home", string(c.home), saved)
	require.Zero(t, code, out)

	logs := folderForPods(t)
	require.NoError(t, os.MkdirAll(filepath.Join(logs, "$(HOME)"), 0o755))
	const script = `
job=$(hostname); job=${job%-worker-0}
attempt=1; [ -e '/logs/$(HOME)/events.1' ] && attempt=2
touch '/logs/$(HOME)/events.'$attempt
echo "loss=0.$attempt"
until curl -sf http://$job-tensorboard:6006/ | grep events.$attempt; do sleep 0.2; done
echo "board $attempt seen"
[ $attempt = 2 ]`
	l := c.launcher(t, "tfjob", script, "--workers=1", "--data="+logs+":/logs", "--retries=1", "--metric=loss",
		"--tensorboard=true", "--tensorboard-image="+image, "--logdir=/logs/$(HOME)").start(t)
	said := l.ends(t, 0)
	require.Contains(t, said, "board 1 seen\n")
	require.Contains(t, said, "events.2\n")
	require.Contains(t, said, "board 2 seen\n")
	require.Equal(t, 2, strings.Count(said, "argosy: TensorBoard shows /logs/$(HOME): kubectl"), said)
	require.Equal(t, "1", l.output(t, "world-size"), "TensorBoard is no rank")

	name := l.output(t, "job-name")
	pod, err := c.kube.CoreV1().Pods(c.namespace).Get(t.Context(), name+"-tensorboard", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, "Running", pod.Status.Phase, "it stays when the job has ended")
	require.NoError(t, c.any.Resource(l.resource()).Namespace(c.namespace).Delete(t.Context(), name, metav1.DeleteOptions{
		PropagationPolicy: ptr(metav1.DeletePropagationBackground),
	}))
	eventually(t, "TensorBoard goes with the job", func(ctx context.Context) bool {
		_, pod := c.kube.CoreV1().Pods(c.namespace).Get(ctx, name+"-tensorboard", metav1.GetOptions{})
		_, service := c.kube.CoreV1().Services(c.namespace).Get(ctx, name+"-tensorboard", metav1.GetOptions{})
		return apierrors.IsNotFound(pod) && apierrors.IsNotFound(service)
	})
}
