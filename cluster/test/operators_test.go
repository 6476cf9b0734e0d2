package test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// trainingJob is a job of training-operator.
type trainingJob struct {
	kind, container, specs string
	replicas               map[string]int // by role; a PS only serves
	policy                 string         // cleanPodPolicy
	meets                  string         // the replica that sees the others
	met                    []string
}

// The replicas of every kind of job find each other by what the operator tells them, the job ends when
// its main replica does, and its pods go or stay as it says.
func TestTrainingJobs(t *testing.T) {
	t.Parallel()
	for _, j := range []trainingJob{
		{"TFJob", "tensorflow", "tfReplicaSpecs", map[string]int{"Chief": 1, "Worker": 2, "PS": 1}, "Running", "chief-0", []string{"chief-0", "worker-0", "worker-1"}},
		{"PyTorchJob", "pytorch", "pytorchReplicaSpecs", map[string]int{"Master": 1, "Worker": 2}, "None", "master-0", []string{"master-0", "worker-0", "worker-1"}},
		{"XGBoostJob", "xgboost", "xgbReplicaSpecs", map[string]int{"Master": 1, "Worker": 1}, "None", "master-0", []string{"master-0", "worker-0"}},
		{"PaddleJob", "paddle", "paddleReplicaSpecs", map[string]int{"Worker": 2}, "None", "worker-0", []string{"worker-0", "worker-1"}},
		{"JAXJob", "jax", "jaxReplicaSpecs", map[string]int{"Worker": 2}, "None", "worker-0", []string{"worker-0", "worker-1"}},
	} {
		t.Run(j.kind, func(t *testing.T) {
			t.Parallel()
			shared(t).testTrainingJob(t, j)
		})
	}
}

func (c *cluster) testTrainingJob(t *testing.T, j trainingJob) {
	program := python(t, "meet.py")
	replicas := map[string]any{}
	for role, n := range j.replicas {
		command := program
		if role == "PS" {
			command = []any{"sh", "-c", "trap exit TERM; sleep 1000 & wait"}
		}
		replicas[role] = replica(n, j.container, command, "Never")
	}
	c.createTraining(t, j.kind, "job", j.specs, replicas, map[string]any{"cleanPodPolicy": j.policy})
	r := trainingResource(j.kind)
	c.awaitCondition(t, r, "job", "Succeeded")
	said := c.log(t, "job-"+j.meets, j.container)
	for _, name := range j.met {
		require.Contains(t, said, "job-"+name)
	}
	counts, _, err := unstructured.NestedMap(c.get(t, r, "job"), "status", "replicaStatuses")
	require.NoError(t, err)
	for role := range j.replicas {
		require.Contains(t, counts, role)
	}
	if _, serves := j.replicas["PS"]; serves {
		eventually(t, "the parameter server goes with the job", func(ctx context.Context) bool {
			_, err := c.kube.CoreV1().Pods(c.namespace).Get(ctx, "job-ps-0", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}

// Real PyTorch: gradients are averaged over gloo, so the models stay the same though the data differs.
func TestPyTorchTrains(t *testing.T) {
	t.Parallel()
	c := shared(t)
	program := python(t, "allreduce.py")
	c.createTraining(t, "PyTorchJob", "torch", "pytorchReplicaSpecs", map[string]any{
		"Master": replica(1, "pytorch", program, "Never"), "Worker": replica(1, "pytorch", program, "Never"),
	}, nil)
	c.awaitCondition(t, trainingResource("PyTorchJob"), "torch", "Succeeded")
	require.Contains(t, c.log(t, "torch-master-0", "pytorch"), "rank 0 of 2: same weights")
}

// A replica that fails fails its job, unless its restart policy gives it another chance.
func TestTrainingJobFails(t *testing.T) {
	t.Parallel()
	c := shared(t)
	r := trainingResource("PyTorchJob")
	once := []any{"sh", "-c", "if [ -e /job/seen ]; then exit 0; fi; touch /job/seen; exit 1"}
	for name, j := range map[string]struct {
		command []any
		policy  string
		ends    string
	}{
		"fails":     {[]any{"sh", "-c", "exit 3"}, "Never", "Failed"},
		"permanent": {[]any{"sh", "-c", "exit 1"}, "ExitCode", "Failed"}, // 1 to 127 are the program's own fault
		"recovers":  {once, "OnFailure", "Succeeded"},
	} {
		master := replica(1, "pytorch", j.command, j.policy)
		spec := master["template"].(map[string]any)["spec"].(map[string]any)
		spec["volumes"] = []any{map[string]any{"name": "work", "emptyDir": map[string]any{}}}
		spec["containers"].([]any)[0].(map[string]any)["volumeMounts"] = []any{map[string]any{"name": "work", "mountPath": "/job"}}
		c.createTraining(t, "PyTorchJob", name, "pytorchReplicaSpecs", map[string]any{"Master": master}, nil)
		c.awaitCondition(t, r, name, j.ends)
	}
	status, _, err := unstructured.NestedInt64(c.get(t, r, "fails"), "status", "replicaStatuses", "Master", "failed")
	require.NoError(t, err)
	require.EqualValues(t, 1, status)
}

// A Volcano Job with its plug-ins: hosts by name, keys for ssh, numbers in the environment.
func TestVolcanoJob(t *testing.T) {
	t.Parallel()
	c := shared(t)
	r := schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}
	c.create(t, r, fmt.Sprintf(`
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: pair}
spec:
  schedulerName: volcano
  minAvailable: 3
  queue: default
  plugins: {ssh: [], svc: [], env: []}
  policies: [{event: PodFailed, action: AbortJob}]
  tasks:
    - name: master
      replicas: 1
      policies: [{event: TaskCompleted, action: CompleteJob}]
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: host
              command:
                - sh
                - -c
                - |
                  for host in $(cat /etc/volcano/worker.host); do
                    until ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "$host" hostname; do sleep 0.1; done
                  done
                  until [ -e %s ]; do sleep 0.05; done
    - name: worker
      replicas: 2
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - name: main
              image: host
              command: [sh, -c, "echo number $VC_TASK_INDEX of $VC_WORKER_NUM: $VC_WORKER_HOSTS; mkdir -p /run/sshd; exec /usr/sbin/sshd -De -o StrictModes=no"]
`, filepath.Join(c.home.Shared(), c.namespace)))
	c.awaitLog(t, "pair-master-0", "pair-worker-1")
	c.awaitLog(t, "pair-worker-1", "number 1 of 2: pair-worker-0.pair,pair-worker-1.pair")
	require.EqualValues(t, 3, c.podGroupOf(t, "pair")["spec"].(map[string]any)["minMember"])
	c.release(t, c.namespace)
	c.await(t, r, "pair", func(o map[string]any) bool {
		phase, _, _ := unstructured.NestedString(o, "status", "state", "phase")
		require.NotContains(t, []string{"Failed", "Aborted", "Terminated"}, phase, "%v", o["status"])
		return phase == "Completed"
	})
	require.Contains(t, c.log(t, "pair-master-0", "main"), "pair-worker-0")
}

// podGroupOf is the pod group that a Volcano Job made; its name ends with the job's UID.
func (c *cluster) podGroupOf(t *testing.T, job string) map[string]any {
	t.Helper()
	list, err := c.any.Resource(podGroups).Namespace(c.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, g := range list.Items {
		if len(g.GetOwnerReferences()) == 1 && g.GetOwnerReferences()[0].Name == job {
			return g.Object
		}
	}
	t.Fatalf("no pod group belongs to %s", job)
	return nil
}

// A pod that names the gang scheduler itself is a gang of one.
func TestPodNamesVolcano(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("alone", "true", func(s *corev1.PodSpec) { s.SchedulerName = "volcano" }))
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "alone", "ends", ended).Status.Phase)
}

func trainingResource(kind string) schema.GroupVersionResource {
	plural := map[string]string{"TFJob": "tfjobs", "PyTorchJob": "pytorchjobs", "XGBoostJob": "xgboostjobs", "PaddleJob": "paddlejobs", "JAXJob": "jaxjobs"}
	return schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: plural[kind]}
}

func (c *cluster) createTraining(t *testing.T, kind, name, specs string, replicas, policy map[string]any) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": map[string]any{"name": name},
		"spec": map[string]any{specs: replicas, "runPolicy": policy},
	})
	require.NoError(t, err)
	c.create(t, trainingResource(kind), string(raw))
}

func replica(n int, container string, command []any, restart string) map[string]any {
	return map[string]any{"replicas": n, "restartPolicy": restart, "template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": container, "image": "host", "command": command}},
	}}}
}

// python runs a program of testdata with the system's Python.
func python(t *testing.T, file string) []any {
	t.Helper()
	program, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	return []any{"/usr/bin/python3", "-c", string(program)}
}
