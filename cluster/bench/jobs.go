package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	figCold       = "MPIJob to mpirun's first line, operators off"
	figLine       = "MPIJob to mpirun's first line"
	figThroughput = "training in pods / the same mpirun outside"

	// trainer is a program that trains for real, and the folder that it is in, from the repository's cluster folder.
	trainerFolder = "../samples/mpi_run/benchmarks/scripts/tf_cnn_benchmarks"
	trainer       = "tf_cnn_benchmarks.py"
)

// named waits for the names of the workers, which mpirun does not.
const named = `for host in $(cut -d' ' -f1 /etc/mpi/hostfile); do until getent hosts "$host" >/dev/null; do sleep 0.02; done; done; `

var mpijobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"}

// mpiRunner runs MPIJobs of two workers with one slot each.
type mpiRunner struct {
	*cluster
	kube kubernetes.Interface
}

// measureJobs looks at distributed jobs on a cluster of their own.
func measureJobs(ctx context.Context, o options, home string, rep *report) (err error) {
	c, err := startCluster(ctx, o.bin, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, "kubeconfig"))
	if err != nil {
		return err
	}
	r := mpiRunner{cluster: c}
	if r.kube, err = kubernetes.NewForConfig(cfg); err != nil {
		return err
	}
	cold, err := r.firstLine(ctx)
	if err != nil {
		return err
	}
	rep.add(ours, figCold, "s", 0, cold.Seconds())
	var warm []time.Duration
	for range o.runs {
		took, err := r.firstLine(ctx)
		if err != nil {
			return err
		}
		warm = append(warm, took)
	}
	rep.add(ours, figLine, "s", 1.5, median(warm))
	return r.throughput(ctx, 3*o.runs, rep) // one pair differs from the next by a tenth
}

// firstLine is the time from a job's creation to what its first rank prints first.
func (r mpiRunner) firstLine(ctx context.Context) (time.Duration, error) {
	created := time.Now()
	log, err := r.run(ctx, named+"mpirun --allow-run-as-root date +%s.%N")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(log) { // ssh warns of new hosts before
		if seconds, err := strconv.ParseFloat(strings.TrimSpace(line), 64); err == nil {
			return time.Duration((seconds - float64(created.UnixNano())/1e9) * float64(time.Second)), nil
		}
	}
	return 0, fmt.Errorf("the job tells no time: %s", log)
}

// throughput trains in pods and outside by turns, since the machine may do other things too, and adds the median of the ratios.
func (r mpiRunner) throughput(ctx context.Context, pairs int, rep *report) error {
	folder := filepath.Join(r.home, "shared", "trainer") // pods see it at the same path
	if err := os.CopyFS(folder, os.DirFS(trainerFolder)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Two processes on one machine; mpirun would put both on the first core when each has a host of its own.
	command := "OMPI_MCA_hwloc_base_binding_policy=none PYTHONDONTWRITEBYTECODE=1 mpirun --allow-run-as-root --oversubscribe -np 2 " +
		"/usr/bin/python3 " + filepath.Join(folder, trainer) + " --model resnet50 --batch_size 64 --num_batches 80 --backend numpy"
	ratios := make([]float64, 0, pairs)
	for range pairs {
		log, err := r.run(ctx, named+command)
		if err != nil {
			return err
		}
		inside, err := imagesPerSecond(log)
		if err != nil {
			return err
		}
		out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput()
		if err != nil {
			return fmt.Errorf("mpirun outside: %w\n%s", err, out)
		}
		outside, err := imagesPerSecond(string(out))
		if err != nil {
			return err
		}
		ratios = append(ratios, inside/outside)
	}
	slices.Sort(ratios)
	rep.add(ours, figThroughput, "", 0.97, ratios[len(ratios)/2])
	rep.note("images/sec in pods and outside, %d pairs: ratios %.2f", pairs, ratios)
	return nil
}

var total = regexp.MustCompile(`total images/sec: ([0-9.]+)`)

func imagesPerSecond(log string) (float64, error) {
	m := total.FindStringSubmatch(log)
	if m == nil {
		return 0, fmt.Errorf("the training tells no images/sec:\n%s", log)
	}
	return strconv.ParseFloat(m[1], 64)
}

// run runs a command in the launcher of a job, to its end, and returns what it printed.
func (r mpiRunner) run(ctx context.Context, command string) (string, error) {
	container := func(name string, command ...any) object {
		c := object{"name": name, "image": "host"}
		if len(command) > 0 {
			c["command"] = command
		}
		return object{"spec": object{"containers": []any{c}}}
	}
	job, err := r.any.Resource(mpijobs).Namespace("kubeflow").Create(ctx, &unstructured.Unstructured{Object: object{
		"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": object{"generateName": "bench-"},
		"spec": object{
			"slotsPerWorker": int64(1), "runPolicy": object{"cleanPodPolicy": "Running", "backoffLimit": int64(0)},
			"mpiReplicaSpecs": object{
				"Launcher": object{"replicas": int64(1), "template": container("launcher", "sh", "-c", command)},
				"Worker":   object{"replicas": int64(2), "template": container("worker")},
			},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	if err := r.ends(ctx, job.GetName()); err != nil {
		return "", err
	}
	pods, err := r.kube.CoreV1().Pods("kubeflow").List(ctx, metav1.ListOptions{
		LabelSelector: "training.kubeflow.org/job-role=launcher,training.kubeflow.org/job-name=" + job.GetName(),
	})
	if err != nil {
		return "", err
	}
	if len(pods.Items) != 1 {
		return "", fmt.Errorf("%s has %d launchers", job.GetName(), len(pods.Items))
	}
	log, err := r.kube.CoreV1().Pods("kubeflow").GetLogs(pods.Items[0].Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	return string(log), err
}

// ends returns when the job has succeeded.
func (r mpiRunner) ends(ctx context.Context, name string) error {
	for {
		job, err := r.any.Resource(mpijobs).Namespace("kubeflow").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
		for _, item := range conditions {
			c, _ := item.(object)
			switch {
			case c["status"] != "True":
			case c["type"] == "Succeeded":
				return nil
			case c["type"] == "Failed":
				return fmt.Errorf("%s failed: %v", name, c["message"])
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
