package versions_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/control/versions"
)

func TestOf(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "volcano.sh/volcano", Version: "v1.14.1"},
		{Path: "example.org/other", Version: "v9.9.9"},
		{Path: "k8s.io/kubernetes", Version: "v1.30.0", Replace: &debug.Module{Path: "k8s.io/kubernetes", Version: "v1.34.4"}},
	}}
	require.Equal(t, []versions.Component{{"kubernetes", "v1.34.4"}, {"volcano", "v1.14.1"}}, versions.Of(info))
}
