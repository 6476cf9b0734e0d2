package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// A later kubelet continues the back-off of the one before: a container that never started does not reset it.
func TestBackoffBefore(t *testing.T) {
	t.Parallel()
	now := time.Now()
	quick := podlog.Exit{Started: now.Add(-time.Second), Finished: now}
	healthy := podlog.Exit{Started: now.Add(-time.Hour), Finished: now}
	fault := podlog.Exit{Finished: now, Fault: "no such program"}
	for name, w := range map[string]struct {
		lives []podlog.Exit
		want  time.Duration
	}{
		"none":           {nil, 0},
		"one":            {[]podlog.Exit{quick}, 10 * time.Second},
		"quick ones":     {[]podlog.Exit{quick, quick, quick}, 40 * time.Second},
		"a healthy one":  {[]podlog.Exit{quick, quick, healthy, quick}, 20 * time.Second},
		"never started":  {[]podlog.Exit{fault, fault, fault}, 40 * time.Second},
		"the most is 5m": {make([]podlog.Exit, 12), 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			life := podlog.Life{Folder: t.TempDir()}
			for _, e := range w.lives {
				require.NoError(t, life.WriteExit(e))
				life.Number++
			}
			require.Equal(t, w.want, BackoffBefore(life))
		})
	}
}
