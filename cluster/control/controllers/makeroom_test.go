package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

func TestYields(t *testing.T) {
	t.Parallel()
	one := api.NewResource(corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")})
	job := func(queue string, priority int32, allocated *api.Resource, elastic bool) *api.JobInfo {
		j := &api.JobInfo{Queue: api.QueueID(queue), Priority: priority, Allocated: allocated, PodGroup: &api.PodGroup{}}
		if !elastic {
			j.PodGroup.Spec = scheduling.PodGroupSpec{MinResources: &corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}
		}
		return j
	}
	gang := job("a", 10, api.EmptyResource(), false)
	for name, c := range map[string]struct {
		other *api.JobInfo
		want  bool
	}{
		"lower priority, same queue":               {job("a", 1, one, false), true},
		"equal priority, same queue":               {job("a", 10, one, true), false},
		"lower priority, which has nothing itself": {job("a", 1, api.EmptyResource(), false), false},
		"lower priority, another queue":            {job("b", 1, one, false), false},
		"more than it needs, another queue":        {job("b", 10, one, true), true},
	} {
		require.Equal(t, c.want, yields(c.other, gang), name)
	}
}

func TestVolcanoConfig(t *testing.T) {
	t.Parallel()
	for placement, weight := range map[string]string{home.Pack: "10", home.Spread: "0"} {
		text, err := volcanoConfigOf(placement)
		require.NoError(t, err)
		require.Contains(t, string(text), "binpack.weight: "+weight+"\n")
		var c conf.SchedulerConfiguration
		require.NoError(t, yaml.Unmarshal(text, &c))
	}
	_, err := volcanoConfigOf("both")
	require.ErrorContains(t, err, `placement "both": want pack or spread`)
}
