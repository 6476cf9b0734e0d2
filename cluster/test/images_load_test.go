package test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (i imageTest) testLoad(t *testing.T) {
	dir, err := os.MkdirTemp("", "argosy")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	saved := filepath.Join(dir, "saved.tar")
	saveTo(t, saved, "localhost:1/loaded:v1", boxImage(t, func(c *v1.Config) { c.Cmd = []string{"echo", "loaded"} }))
	code, out := i.image(t, "load", saved)
	require.Zero(t, code, out)
	require.Regexp(t, `^loaded localhost:1/loaded:v1 sha256:[0-9a-f]{64}\n$`, out)
	code, out = i.image(t, "list", "-o", "json")
	require.Zero(t, code, out)
	var rows []struct {
		Names  []string
		Digest string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &rows))
	digest := ""
	for _, r := range rows {
		if r.Names[0] == "localhost:1/loaded:v1" {
			digest = r.Digest
		}
	}
	require.NotEmpty(t, digest, out)
	require.Equal(t, "loaded\n", i.says(t, podFrom("loaded", "localhost:1/loaded:v1", "", policy(corev1.PullNever))))

	i.createPod(t, podFrom("uses", "localhost:1/loaded:v1", "wait"))
	i.awaitPod(t, "uses", "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	code, out = i.image(t, "remove", "localhost:1/loaded:v1")
	require.Equal(t, 1, code)
	require.Contains(t, out, "is used by "+i.namespace+"/uses")
	require.NoError(t, i.kube.CoreV1().Pods(i.namespace).Delete(t.Context(), "uses", metav1.DeleteOptions{}))
	eventually(t, "the image can be removed", func(context.Context) bool {
		code, out = i.image(t, "remove", digest[7:19])
		return code == 0
	})
	require.Equal(t, "removed "+digest+"\n", out)
	code, out = i.image(t, "list")
	require.Zero(t, code)
	require.NotContains(t, out, "localhost:1/loaded")
	code, out = i.image(t, "remove", "localhost:1/loaded:v1")
	require.Equal(t, 1, code)
	require.Contains(t, out, "no image localhost:1/loaded:v1 is stored here")
	code, out = i.image(t, "pull", i.hub.Host+"/team/absent:v1")
	require.Equal(t, 1, code)
	require.Contains(t, out, "check the image's name and tag")
}

// A cluster whose owner is logged in to a registry, with images that were loaded while it was down.
func TestImagesOfTheOwner(t *testing.T) {
	t.Parallel()
	h, dir, config := newHub(t), t.TempDir(), t.TempDir()
	auth := base64.StdEncoding.EncodeToString([]byte(hubUser + ":" + hubPassword))
	require.NoError(t, os.WriteFile(filepath.Join(config, "config.json"), fmt.Appendf(nil, `{"auths": {%q: {"auth": %q}}}`, h.Host, auth), 0o600))
	saved := filepath.Join(t.TempDir(), "saved.tar")
	saveTo(t, saved, "localhost:1/loaded:v1", boxImage(t))
	code, out := exitCode(t, "image", "load", "--home", dir, saved)
	require.Zero(t, code, out)
	code, out = exitCode(t, "image", "load", "--home", dir, "--name", "localhost:1/unused:v1", saved)
	require.Zero(t, code, out)
	code, out = exitCode(t, "image", "remove", "--home", dir, "localhost:1/unused:v1")
	require.Zero(t, code, out)
	code, out = exitCode(t, "image", "load", "--home", dir, filepath.Join(config, "config.json"))
	require.Equal(t, 1, code)
	require.Contains(t, out, "not a tar archive")

	cmd := upCommand(dir, "--images", "pull")
	cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+config)
	i := imageTest{start(t, dir, cmd), h, false}
	require.Equal(t, "by default\n", i.says(t, podFrom("loaded", "localhost:1/loaded:v1", "")))
	require.Equal(t, "by default\n", i.says(t, podFrom("owners", h.push(t, "private/box:v1", boxImage(t)), "")))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	i.createPod(t, podFrom("waits", l.Addr().String()+"/team/app:v1", ""))
	i.awaitWaiting(t, "waits", "ImagePullBackOff", "cannot be reached")
	require.Equal(t, "on the host\n", i.says(t, podOf("host", "echo on the host")))
	eventually(t, "the node lists the images", func(ctx context.Context) bool {
		n, err := i.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		return slices.ContainsFunc(n.Items[0].Status.Images, func(im corev1.ContainerImage) bool { return slices.Contains(im.Names, "localhost:1/loaded:v1") })
	})
}
