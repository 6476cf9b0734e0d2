package podspec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramOf(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"argoexec": "argoexec", "quay.io/argoproj/argoexec:v3.7.18": "argoexec", "argosyml/argosy-launcher:dev": "argosy-launcher",
		"registry:5000/argosy-launcher@sha256:abc": "argosy-launcher", "busybox": "", "argoexec-other:v1": "", "": "", "argoexec/busybox": "",
	} {
		require.Equal(t, want, Program(image), image)
	}
}
