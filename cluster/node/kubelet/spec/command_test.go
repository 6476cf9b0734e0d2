package spec

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		c     corev1.Container
		want  []string
		fails string
	}{
		"command and args":        {corev1.Container{Name: "c", Command: []string{"a", "$(X)"}, Args: []string{"$$(X)"}}, []string{"a", "x", "$(X)"}, ""},
		"none":                    {corev1.Container{Name: "c", Image: "busybox"}, nil, "container c has no command"},
		"args only":               {corev1.Container{Name: "c", Image: "busybox", Args: []string{"x"}}, nil, "set `command`"},
		"our image's entry point": {corev1.Container{Name: "c", Image: "argoexec:v1", Args: []string{"artifact", "delete"}}, []string{"argoexec", "artifact", "delete"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := &container.Spec{}
			err := (&Container{Of: &c.c, Environment: environment.Variables{"X": "x"}}).command(spec)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, spec.Args)
		})
	}
}
