package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/host/supervisor"
	"github.com/argosy-ml/argosy/cluster/runtime/image"
)

// Names of the children, which are also their subcommands and log files.
const (
	apiserver   = "apiserver"
	objectStore = "s3"
	controllers = "controllers"
	nodeAgent   = "node"
	kubelet     = "kubelet" // no child: the name of the node's listener

	// Children of distributed jobs.
	mpiOperator      = "mpi-operator"
	trainingOperator = "training-operator"
	volcano          = "volcano"
)

// Stages of the stop: pods go while everybody who learns of it still runs, the store of all objects goes last.
const (
	stageStores = iota
	stageControllers
	stageNode
)

// controlPlaneProgram holds the children that are upstream's code.
const controlPlaneProgram = "argosy-controlplane"

// upstream are the children that controlPlaneProgram runs; the others run from this program.
var upstream = map[string]bool{apiserver: true, controllers: true, mpiOperator: true, trainingOperator: true, volcano: true}

// beside finds a program that is installed with this one.
func beside(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w (it belongs beside argosy-cluster; `make build` builds both)", err)
	}
	return path, nil
}

// openProgram returns a path that keeps leading to the same program after a rebuild, so that a child that starts again is not
// of another version than its siblings.
func openProgram(name string) (string, *os.File, error) {
	path, err := beside(name)
	if err != nil {
		return "", nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())), f, nil
}

// base are the children that need no others.
func base(h home.Home, files map[string]*os.File) []supervisor.Child {
	return []supervisor.Child{
		child(h, apiserver, supervisor.Child{
			Files: []*os.File{files[apiserver]},
			Stage: stageStores,
			Env:   memory(50, "1GiB"),
		}),
		child(h, objectStore, supervisor.Child{
			Files: []*os.File{files[objectStore]},
			Stage: stageStores,
			Env:   memory(50, "256MiB"),
		}),
	}
}

// dependent are the children that need the apiserver and its bootstrapped objects.
func dependent(h home.Home, o home.Options, files map[string]*os.File, ports map[string]int, admin *rest.Config) []supervisor.Child {
	return []supervisor.Child{
		child(h, controllers, supervisor.Child{
			Args:  stockArgs(o),
			Stage: stageControllers,
			Env:   append(memory(100, "768MiB"), argoEnvironment(o)...),
			// Argo's informers can fail for ever on the list of pods after the apiserver lost its watch cache.
			Follows: apiserver,
		}),
		child(h, nodeAgent, supervisor.Child{
			Args:  nodeArgs(ports[kubelet], o),
			Files: []*os.File{files[kubelet]},
			Stage: stageNode,
			Env:   memory(100, "256MiB"),
			Grace: 20 * time.Second, // its pods have a grace of their own
			Ready: func(ctx context.Context) error { return nodesReady(ctx, admin, o.Nodes, ports[kubelet], time.Now()) },
		}),
	}
}

// argoEnvironment are settings of Argo's controller that it takes from nowhere else.
func argoEnvironment(o home.Options) []string {
	env := []string{
		// Where it looks for the commands of images.
		image.InsecureEnv + "=" + strings.Join(o.InsecureRegistries, ","),
		// For this time after a step's start Argo assumes that a missing pod has not reached its cache yet, and creates the pod
		// again. Here the cache holds every pod that was seen running: a missing one was deleted, and the step must not run twice.
		"RECENTLY_STARTED_POD_DURATION=0s",
	}
	// Events of pods, results and workflows wait this long before the workflow is looked at again. Empty leaves it to package quick, or to Argo.
	requeue := ""
	if o.Requeue > 0 {
		requeue = o.Requeue.String()
	}
	env = append(env, "DEFAULT_REQUEUE_TIME="+requeue)
	if !o.StockArgo {
		// Pods are named as their steps' nodes, as in the days of KFP v1: its UI asks for the pod of a step by the node's id.
		env = append(env, "POD_NAMES=v1")
		// Argo neither writes a workflow that it has saved into its cache itself, nor sleeps a second, as it does for "false". What it writes
		// there may be older than what a watch has just brought: a stop would be lost until the next change. It looks again where
		// its cache is older than what it saved.
		env = append(env, "INFORMER_WRITE_BACK=never")
		if o.Requeue == 0 {
			// The wait changes all the time, and how often an agent reports would follow whatever it is when the agent is made.
			env = append(env, "ARGO_AGENT_PATCH_RATE=50ms")
		}
	}
	if o.Nodes == 1 {
		// A retry that is to avoid the node it failed on would wait for ever where there is one node: let it look for a label that
		// no node has, which excludes none.
		env = append(env, "RETRY_HOST_NAME_LABEL_KEY=argosy.dev/no-such-label")
	}
	return env
}

// stockArgs are the flag of the children that do something to make Argo quicker.
func stockArgs(o home.Options) []string {
	if !o.StockArgo {
		return nil
	}
	return []string{"--stock-argo"}
}

// nodeArgs are the flags of the cluster that its node has to know.
func nodeArgs(port int, o home.Options) []string {
	args := []string{"--port", strconv.Itoa(port), "--nodes", strconv.Itoa(o.Nodes), "--gpus", strconv.Itoa(o.GPUs), "--images", o.Images}
	for _, r := range o.InsecureRegistries {
		args = append(args, "--insecure-registry", r)
	}
	for _, dir := range o.HostPaths {
		args = append(args, "--host-path", dir)
	}
	for _, dir := range o.HostShow {
		args = append(args, "--host-show", dir)
	}
	return append(args, stockArgs(o)...)
}

func child(h home.Home, name string, c supervisor.Child) supervisor.Child {
	c.Name = name
	c.Args = append([]string{name, "--home", string(h)}, c.Args...)
	return c
}

// memory keeps a child small: a collection after the heap grew by gogc percent, and sooner near the limit.
// The limit is far above what an idle child needs; one that is too low makes the collector run all the time.
func memory(gogc int, limit string) []string {
	return []string{fmt.Sprintf("GOGC=%d", gogc), "GOMEMLIMIT=" + limit}
}

// nodesReady waits until that many Nodes with the kubelet's port have said since the start that they are ready.
func nodesReady(ctx context.Context, admin *rest.Config, wanted, port int, start time.Time) error {
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	start = start.Truncate(time.Second) // times in the API have no fractions
	for {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err == nil {
			ready := 0
			for _, n := range nodes.Items {
				if int(n.Status.DaemonEndpoints.KubeletEndpoint.Port) == port && readySince(n, start) {
					ready++
				}
			}
			if ready >= wanted {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func readySince(n corev1.Node, start time.Time) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue && !c.LastHeartbeatTime.Time.Before(start)
		}
	}
	return false
}

// inherit turns listeners into the files that children inherit. The supervisor keeps them open, so a client that
// comes while a child is being restarted waits in the queue and is served instead of being refused.
func inherit(listeners map[string]*net.TCPListener) (map[string]*os.File, map[string]int, error) {
	files, ports := map[string]*os.File{}, map[string]int{}
	for name, l := range listeners {
		f, err := l.File()
		if err != nil {
			return nil, nil, err
		}
		files[name], ports[name] = f, home.Port(l)
		if err := l.Close(); err != nil {
			return nil, nil, err
		}
	}
	return files, ports, nil
}
