//go:build e2e

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// aStep is a workflow of one step, whose template and specification are to be filled in.
const aStep = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: never-}
spec:
  entrypoint: main
%s
  templates:
  - name: main
    dag: {tasks: [{name: step, template: step}]}
  - name: step
    container: {image: host, command: ["true"]%s}
%s
`

// withClaim is a workflow whose step mounts a volume of its own.
func withClaim(spec string) string {
	return fmt.Sprintf(aStep, "  volumeClaimTemplates: [{metadata: {name: work}, spec: {accessModes: [ReadWriteOnce], "+spec+"}}]", ", volumeMounts: [{name: work, mountPath: /work}]", "")
}

// TestNeverFits starts runs of all kinds that the machine can never hold. Each answer warns of it, and each run fails at once with the
// same sentence as the message of its step.
func TestNeverFits(t *testing.T) {
	t.Parallel()
	a := up(t, t.TempDir())
	var node corev1.Node
	a.kubernetes(t, "/api/v1/nodes/local", &node)
	cpus := strconv.FormatFloat(float64(node.Status.Allocatable.Cpu().MilliValue())/1000, 'f', -1, 64)
	twice := strconv.FormatFloat(float64(node.Status.Allocatable.Cpu().MilliValue())/500, 'f', -1, 64)
	memory := node.Status.Allocatable.Memory().String()

	limits := func(name, q string) string {
		return fmt.Sprintf(aStep, "", fmt.Sprintf(", resources: {limits: {%s: %s}}", name, q), "")
	}
	job := func(add func(p *dsl.Pipeline, spec train.Spec)) string {
		p := dsl.New("never")
		add(p, train.Spec{
			Image: dsl.Lit("host"), Command: dsl.Lit("true"), Workers: dsl.Lit(2),
			CPU: dsl.Param(p, "cpu_limit", "100m"), Memory: dsl.Param(p, "memory_limit", "64Mi"), GPUs: dsl.Param(p, "gpus", 0),
		})
		manifest, err := compiler.Compile(p)
		require.NoError(t, err)
		return string(manifest)
	}
	mpi := job(func(p *dsl.Pipeline, spec train.Spec) { train.MPIJob(p, "step", train.MPI(spec)) })
	torch := job(func(p *dsl.Pipeline, spec train.Spec) { train.PyTorchJob(p, "step", train.PyTorch(spec)) })
	tf := job(func(p *dsl.Pipeline, spec train.Spec) {
		spec.Workers = dsl.Lit(1)
		train.TFJob(p, "step", train.TF{Spec: spec, PS: train.Role{Replicas: dsl.Lit(1)}})
	})
	queued := job(func(p *dsl.Pipeline, spec train.Spec) {
		spec.Queue = dsl.Lit("narrow")
		train.PyTorchJob(p, "step", train.PyTorch(spec))
	})
	a.says(t, 0, "queue", "create", "narrow", "--capability", "cpu=150m")
	volcano := job(func(p *dsl.Pipeline, spec train.Spec) {
		spec.NodeSelector = map[string]dsl.Value[string]{"gpu": dsl.Lit("v100")}
		train.VolcanoJob(p, "step", train.Volcano{Spec: spec})
	})
	for _, c := range []struct {
		kind, manifest string
		parameters     map[string]string
		says           string
	}{
		{"CPUs of an MPIJob", mpi, map[string]string{"cpu_limit": cpus}, fmt.Sprintf("asks 2 workers x %s CPUs = %s; this cluster has %s: lower cpu_limit, or add nodes", cpus, twice, cpus)},
		{"memory of an MPIJob", mpi, map[string]string{"memory_limit": memory}, "asks 2 workers x "},
		{"GPUs of a PyTorchJob", torch, map[string]string{"gpus": "10000"}, "asks 10000 GPUs for each master; this cluster has "},
		{"CPUs of a TFJob's roles", tf, map[string]string{"cpu_limit": cpus}, fmt.Sprintf("asks 1 ps x %s CPUs + 1 worker x %s CPUs = %s; this cluster has %s: lower cpu_limit, or add nodes", cpus, cpus, twice, cpus)},
		{"node selector of a Volcano Job", volcano, nil, "asks for a node with the label gpu=v100; this cluster has none: change the node selector of the step, or label a node"},
		{"queue of a PyTorchJob", queued, nil, "asks 1 master x 0.1 CPUs + 1 worker x 0.1 CPUs = 0.2; queue narrow may have 0.15: lower cpu_limit, choose another queue, or raise its limit with argosy queue set narrow --capability cpu=0.2"},
		{
			"queue of a step", fmt.Sprintf(aStep, "", ", resources: {limits: {cpu: 200m}}", "    schedulerName: volcano\n    metadata: {annotations: {scheduling.volcano.sh/queue-name: narrow}}"), nil,
			"asks 0.2 CPUs; queue narrow may have 0.15: lower the CPU limit of the step, choose another queue, or raise its limit with argosy queue set narrow --capability cpu=0.2",
		},
		{"CPUs of a step", limits("cpu", "100000"), nil, fmt.Sprintf("asks 100000 CPUs; this cluster has %s: lower the CPU limit of the step, or add a larger node", cpus)},
		{"memory of a step", limits("memory", "1000Ti"), nil, "asks 1000Ti of memory; this cluster has "},
		{"GPUs of a step", limits("nvidia.com/gpu", "10000"), nil, "asks 10000 GPUs; this cluster has "},
		{"disk of a step", limits("ephemeral-storage", "1000Pi"), nil, "asks 1000Pi of disk; this cluster has "},
		{"another device", limits("rdma/hca", "1"), nil, "asks 1 rdma/hca; this cluster has none: lower the number of rdma/hca of the step, or add nodes that have rdma/hca"},
		{"node selector of a step", fmt.Sprintf(aStep, "", "", "    nodeSelector: {disk: ssd}"), nil, "asks for a node with the label disk=ssd; this cluster has none: change the node selector of the step, or label a node"},
		{"size of a volume", withClaim("resources: {requests: {storage: 1000Pi}}"), nil, "asks for a volume of 1000Pi for "},
		{"storage class", withClaim("storageClassName: fast, resources: {requests: {storage: 1Gi}}"), nil, "asks for a volume of the storage class fast for "},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			var pipeline struct{ ID string }
			a.upload(t, strings.ReplaceAll(c.kind, " ", "-"), "never.yaml", []byte(c.manifest), 200, &pipeline)
			var answer struct {
				Run struct {
					ID       string
					Warnings string `json:"metric_errors"`
				}
			}
			a.post(t, "/apis/v1beta1/runs", runBody(c.kind, pipeline.ID, c.parameters), 200, &answer)
			require.Contains(t, answer.Run.Warnings, "step step "+c.says)

			run := a.await(t, answer.Run.ID, 3*time.Minute, runView.final)
			require.Equal(t, "Failed", run.Status, "%+v", run)
			require.Equal(t, []string{answer.Run.Warnings}, run.Warnings)
			step := run.Nodes[run.node(t, "step")]
			require.Contains(t, step.Message, c.says)
			t.Logf("%s | %s | %s", c.kind, answer.Run.Warnings, step.Message)
		})
	}
}
