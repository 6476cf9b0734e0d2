package test

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var (
	workflows = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}
	mpijobs   = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"}
)

// runWorkflow runs one step to its end and reads what it printed.
func (c *cluster) runWorkflow(t *testing.T, name string) {
	t.Helper()
	c.create(t, workflows, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: `+name+`}
spec:
  entrypoint: say
  templates:
    - name: say
      container: {image: host, command: [echo, "I am `+name+`"]}
`)
	c.succeeds(t, name)
	require.Contains(t, c.log(t, name, "main"), "I am "+name)
}

func (c *cluster) workflowUID(t *testing.T, name string) string {
	t.Helper()
	o, err := c.any.Resource(workflows).Namespace(c.namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return string(o.GetUID())
}

// runMPIJob has mpirun ask two workers, over ssh, for their names.
func (c *cluster) runMPIJob(t *testing.T) {
	c.create(t, mpijobs, `
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: hosts}
spec:
  slotsPerWorker: 1
  runPolicy: {cleanPodPolicy: Running}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          containers:
            - {name: launcher, image: host, command: [mpirun, --allow-run-as-root, -np, "2", hostname]}
    Worker:
      replicas: 2
      template:
        spec:
          containers:
            - {name: worker, image: host}
`)
	c.await(t, mpijobs, "hosts", func(o map[string]any) bool {
		conditions, _, _ := unstructured.NestedSlice(o, "status", "conditions")
		return slices.ContainsFunc(conditions, func(c any) bool {
			m := c.(map[string]any)
			return m["type"] == "Succeeded" && m["status"] == "True"
		})
	})
	pods, err := c.kube.CoreV1().Pods(c.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "training.kubeflow.org/job-role=launcher"})
	require.NoError(t, err)
	require.Len(t, pods.Items, 1)
	log := c.log(t, pods.Items[0].Name, "launcher")
	require.Contains(t, log, "hosts-worker-0")
	require.Contains(t, log, "hosts-worker-1")
}

func (c *cluster) create(t *testing.T, r schema.GroupVersionResource, text string) {
	t.Helper()
	_, err := c.any.Resource(r).Namespace(c.namespace).Create(t.Context(), manifest(t, text), metav1.CreateOptions{})
	require.NoError(t, err)
}

func manifest(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

func (c *cluster) await(t *testing.T, r schema.GroupVersionResource, name string, done func(map[string]any) bool) {
	t.Helper()
	eventually(t, r.Resource+" "+name+" is done", func(ctx context.Context) bool {
		o, err := c.any.Resource(r).Namespace(c.namespace).Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		return done(o.Object)
	})
}

func (c *cluster) log(t *testing.T, pod, container string) string {
	t.Helper()
	b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container}).DoRaw(t.Context())
	require.NoError(t, err)
	return string(b)
}

// listening are the addresses on which processes accept TCP connections from this network namespace.
func listening(t *testing.T, pids []int) (addresses []string) {
	t.Helper()
	sockets := map[string]bool{}
	for _, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/fd", pid)
		fds, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, fd := range fds {
			link, err := os.Readlink(dir + "/" + fd.Name())
			if inode, ok := strings.CutPrefix(link, "socket:["); err == nil && ok {
				sockets[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue // no IPv6 here
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			fields := strings.Fields(s.Text())
			const stateListen = "0A"
			if len(fields) < 10 || fields[3] != stateListen || !sockets[fields[9]] {
				continue
			}
			raw, err := hex.DecodeString(fields[1][:strings.Index(fields[1], ":")])
			require.NoError(t, err)
			for word := range slices.Chunk(raw, 4) {
				slices.Reverse(word) // the kernel prints words of the machine
			}
			addresses = append(addresses, net.IP(raw).String())
		}
	}
	return addresses
}

func closedWith(err error) chan error {
	c := make(chan error, 1)
	c <- err
	return c
}
