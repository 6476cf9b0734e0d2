package images

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/runtime/image/registrytest"
)

// finder is an image finder with a registry of its own that can be cut off.
type finder struct {
	*Finder
	host  string
	cut   atomic.Bool
	dials atomic.Int32
	told  []string
}

func newFinder(t *testing.T, mode string) *finder {
	t.Helper()
	f := &finder{}
	hub := registrytest.New(t, nil)
	f.host = hub.Host
	cf, err := empty.Image.ConfigFile()
	require.NoError(t, err)
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture = "linux", runtime.GOARCH
	img, err := mutate.ConfigFile(empty.Image, cf)
	require.NoError(t, err)
	hub.Push(t, "app:v1", img)
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		f.dials.Add(1)
		if f.cut.Load() {
			return nil, errors.New("no network")
		}
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}
	f.Finder, err = New(Config{Mode: mode, Folder: filepath.Join(t.TempDir(), "images"), Dial: dial, Log: slog.New(slog.DiscardHandler), reach: 5 * time.Minute})
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

// find returns the reason why there is no image, `host` for this machine's files, or `image`.
func (f *finder) findOne(t *testing.T, image string, p corev1.PullPolicy) string {
	t.Helper()
	c := &corev1.Container{Name: "main", Image: strings.ReplaceAll(image, "HUB", f.host), ImagePullPolicy: p}
	keys := func() ([]authn.Keychain, string) { return nil, "" }
	u, err := f.Find(t.Context(), c, keys, func(_, reason, format string, args ...any) {
		f.told = append(f.told, reason+": "+fmt.Sprintf(format, args...))
	})
	var failed *PullError
	switch {
	case errors.As(err, &failed):
		return failed.Reason
	case u != nil:
		return "image"
	}
	require.NoError(t, err)
	return "host"
}

func TestImageModes(t *testing.T) {
	t.Parallel()
	t.Run("host", func(t *testing.T) {
		t.Parallel()
		f := newFinder(t, Host)
		require.Equal(t, "host", f.findOne(t, "HUB/app:v1", corev1.PullAlways))
		require.Equal(t, "host", f.findOne(t, "Not:A:Name", corev1.PullNever))
		require.Zero(t, f.dials.Load())
		require.Empty(t, f.told, "what is always so needs no words")
	})
	t.Run("pull", func(t *testing.T) {
		t.Parallel()
		f := newFinder(t, Pull)
		for _, local := range []string{"host", "host:v1", "argosy/host", "somewhere/argoexec:v3", "argosy-launcher"} {
			require.Equal(t, "host", f.findOne(t, local, corev1.PullAlways), local)
		}
		require.Zero(t, f.dials.Load())
		require.Equal(t, ErrInvalidImageName, f.findOne(t, "Not:A:Name", corev1.PullAlways))
		require.Equal(t, ErrImageNeverPull, f.findOne(t, "HUB/app:v1", corev1.PullNever))
		require.Equal(t, ErrImagePull, f.findOne(t, "HUB/other:v1", corev1.PullIfNotPresent))
		f.cut.Store(true)
		f.client.Close()
		require.Equal(t, ErrImagePull, f.findOne(t, "HUB/app:v1", corev1.PullIfNotPresent))
		f.cut.Store(false)
		require.Equal(t, "image", f.findOne(t, "HUB/app:v1", corev1.PullIfNotPresent))
		f.cut.Store(true)
		f.client.Close()
		require.Equal(t, "image", f.findOne(t, "HUB/app:v1", corev1.PullIfNotPresent))
		require.Equal(t, "image", f.findOne(t, "HUB/app:v1", corev1.PullNever))
		require.Equal(t, ErrImagePull, f.findOne(t, "HUB/app:v1", corev1.PullAlways), "as Kubernetes has it")
	})
	t.Run("auto", func(t *testing.T) {
		t.Parallel()
		f := newFinder(t, Auto)
		require.Equal(t, ErrImagePull, f.findOne(t, "HUB/other:v1", corev1.PullIfNotPresent), "a registry that answers is heeded")
		f.cut.Store(true)
		f.client.Close()
		f.told = nil
		require.Equal(t, "host", f.findOne(t, "HUB/app:v1", corev1.PullIfNotPresent))
		require.Len(t, f.told, 2)
		require.Contains(t, f.told[1], "RegistryUnreachable: registry "+f.host+" cannot be reached")
		f.down[f.host] = time.Now().Add(time.Hour) // this test may be held up for longer than a registry is believed to be down
		dials := f.dials.Load()
		require.Equal(t, "host", f.findOne(t, "HUB/app:v1", corev1.PullAlways))
		require.Equal(t, dials, f.dials.Load(), "not asked again so soon")
		require.Len(t, f.told, 2, "nor told again")
		require.Equal(t, ErrImageNeverPull, f.findOne(t, "HUB/app:v1", corev1.PullNever))
		f.cut.Store(false)
		clear(f.down)
		require.Equal(t, "image", f.findOne(t, "HUB/app:v1", corev1.PullIfNotPresent))
		f.cut.Store(true)
		f.client.Close()
		require.Equal(t, "image", f.findOne(t, "HUB/app:v1", corev1.PullAlways), "what was pulled earlier is better than nothing")
	})
}

func TestStopSignals(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 15, "SIGINT": 2, "USR1": 10, "9": 9, "nonsense": 15, "99": 15} {
		require.EqualValues(t, want, StopSignal(in), in)
	}
}
