package capacity_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/launcher/capacity"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	translated, err := os.ReadFile("../../frontend/src/waiting/sentences.txt")
	require.NoError(t, err)
	apart := func(groups ...capacity.Group) capacity.Demand { return capacity.Demand{Groups: groups} }
	named := func(d capacity.Demand) capacity.Demand {
		d.Parameters = map[corev1.ResourceName]string{"nvidia.com/gpu": "gpus"}
		return d
	}
	two := func() capacity.Group { return group("worker", 2, "nvidia.com/gpu", "1", "cpu", "2", "memory", "5Gi") }
	for name, c := range map[string]struct {
		limit  []string
		demand capacity.Demand
		says   string // empty: it may fit
	}{
		"the GPUs of a gang": {
			[]string{"nvidia.com/gpu", "1"},
			named(job(two())),
			"asks 2 workers x 1 GPU = 2; queue small may have 1: lower gpus, choose another queue, or raise its limit with argosy queue set small --capability nvidia.com/gpu=2",
		},
		"two resources of a gang": {
			[]string{"cpu", "3", "memory", "9.5Gi", "nvidia.com/gpu", "8"},
			job(group("launcher", 1), two()),
			"asks 2 workers x 2 CPUs = 4 and 2 workers x 5Gi of memory = 10Gi; queue small may have 3 CPUs and 9.5Gi of memory: " +
				"lower the CPU limit of the step and the memory limit of the step, choose another queue, or raise its limit with argosy queue set small --capability cpu=4 --capability memory=10Gi",
		},
		"several roles": {
			[]string{"cpu", "1500m"},
			job(group("worker", 1, "cpu", "500m"), group("ps", 2, "cpu", "600m")),
			"asks 1 worker x 0.5 CPUs + 2 ps x 0.6 CPUs = 1.7; queue small may have 1.5: " +
				"lower the CPU limit of the step, choose another queue, or raise its limit with argosy queue set small --capability cpu=1.7",
		},
		"a gang that the queue has nothing for": {
			[]string{"nvidia.com/gpu", "0"},
			named(job(two())),
			"asks 2 workers x 1 GPU = 2; queue small may have none: lower gpus, choose another queue, or raise its limit with argosy queue set small --capability nvidia.com/gpu=2",
		},
		"one of several pods that are placed one by one": {
			[]string{"cpu", "1"},
			apart(group("ps", 0, "cpu", "8"), two()),
			"asks 2 CPUs for each worker; queue small may have 1: lower the CPU limit of the step, choose another queue, or raise its limit with argosy queue set small --capability cpu=2",
		},
		"the pod of a step": {
			[]string{"memory", "1Gi"},
			apart(group("", 1, "cpu", "1", "memory", "2Gi")),
			"asks 2Gi of memory; queue small may have 1Gi: lower the memory limit of the step, choose another queue, or raise its limit with argosy queue set small --capability memory=2Gi",
		},
		"the only pod of a job": {
			[]string{"cpu", "1"},
			job(group("", 1, "cpu", "2")),
			"asks 2 CPUs; queue small may have 1: lower the CPU limit of the step, choose another queue, or raise its limit with argosy queue set small --capability cpu=2",
		},

		"all of the limit":             {limit: []string{"nvidia.com/gpu", "2", "cpu", "4"}, demand: job(two())},
		"no limit":                     {demand: job(two())},
		"a limit of something else":    {limit: []string{"rdma/hca", "0"}, demand: job(two())},
		"pods that take turns":         {limit: []string{"nvidia.com/gpu", "1"}, demand: apart(two())},
		"no CPUs, which mean no limit": {limit: []string{"cpu", "0", "memory", "0"}, demand: job(two())},
		"pods, which are not counted":  {limit: []string{"pods", "1"}, demand: job(two())},
		"what a pod asks for as a whole, which is not counted": {
			limit: []string{"cpu", "1"}, demand: apart(with(group("", 1), func(p *corev1.PodSpec) {
				p.Resources = &corev1.ResourceRequirements{Requests: resources("cpu", "8")}
			})),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := capacity.Queue{Name: "small", Capability: resources(c.limit...)}
			short := q.Short(c.demand)
			if c.says == "" {
				require.Nil(t, short)
				return
			}
			require.EqualError(t, short, c.says)
			require.Contains(t, string(translated), c.says+"\n", "the UI has each sentence in Chinese: add it to the file, and its phrases to chinese.ts beside it")
		})
	}
	var unknown *capacity.Queue
	require.Nil(t, unknown.Short(job(two())))
}
