package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/node"
)

// What a cluster as a whole does.
const (
	stateStopped  = "stopped"
	stateStarting = "starting" // or stopping
	stateReady    = "ready"
	stateDegraded = "degraded" // it was ready, and a part of it is not at the moment
)

// status is what there is to know about the cluster of a data folder. Programs read it as JSON.
type status struct {
	Home       string       `json:"home"`
	State      string       `json:"state"`
	PID        int          `json:"pid,omitempty"` // of the supervisor
	Since      *time.Time   `json:"since,omitempty"`
	APIServer  string       `json:"apiserver,omitempty"`
	Kubeconfig string       `json:"kubeconfig,omitempty"`
	Objects    string       `json:"object_store,omitempty"` // URL of the bucket
	Options    home.Options `json:"options"`
	Components []component  `json:"components"`
	Nodes      []nodeStatus `json:"nodes"`
	Trouble    string       `json:"trouble,omitempty"` // why something of this is not known
}

type component struct {
	home.Component
	Memory int64 `json:"memory"` // bytes, of its helper processes too
}

type nodeStatus struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	CPU    string `json:"cpu"`
	Memory int64  `json:"memory"` // bytes
	GPUs   string `json:"gpus,omitempty"`
	Pods   int    `json:"pods"`   // that have not ended
	Limits string `json:"limits"` // how those of containers are enforced
}

func statusCommand() *cobra.Command {
	var dir, format string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether a cluster is up on a data folder, and what it does (exit code 1: none)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.At(dir)
			if err != nil {
				return err
			}
			s, err := look(cmd.Context(), h)
			if err != nil {
				return err
			}
			switch {
			case format == "json":
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				err = e.Encode(s)
			case format != "text":
				return fmt.Errorf("-o %s: want text or json", format)
			case s.State != stateStopped:
				err = s.print(cmd.OutOrStdout())
			}
			if err == nil && s.State == stateStopped {
				err = fmt.Errorf("no cluster is up on %s", h)
			}
			return err
		},
	}
	homeFlag(cmd, &dir)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return cmd
}

// look gathers the status. What a cluster that starts or stops cannot tell is left out.
func look(ctx context.Context, h home.Home) (status, error) {
	s := status{Home: string(h), State: stateStopped, Components: []component{}, Nodes: []nodeStatus{}}
	pid, held := home.Holder(h.ClusterLock())
	if !held {
		return s, nil
	}
	s.PID, s.State = pid, stateStarting
	recorded, err := h.ReadComponents()
	if err != nil {
		return s, err
	}
	for _, c := range recorded {
		s.Components = append(s.Components, component{c, residentMemory(c.PID)})
	}
	for _, name := range slices.Sorted(maps.Keys(onDemand(h, home.Options{}))) {
		if !slices.ContainsFunc(recorded, func(c home.Component) bool { return c.Name == name }) {
			s.Components = append(s.Components, component{home.Component{Name: name, State: home.Waiting}, 0})
		}
	}
	info, err := h.ReadInfo()
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return s, err
	}
	s.State, s.Since, s.Options = stateReady, &info.Started, info.Options
	s.APIServer, s.Kubeconfig, s.Objects = info.APIServer, info.Kubeconfig, "http://"+info.S3.Endpoint+"/"+info.S3.Bucket
	for _, c := range s.Components {
		if c.State == home.Down || c.State == home.Starting && c.Restarts > 0 {
			s.State = stateDegraded
		}
	}
	if s.Nodes, err = nodesOf(ctx, info.Kubeconfig); err != nil {
		s.State, s.Trouble = stateDegraded, err.Error()
	}
	for _, n := range s.Nodes {
		if !n.Ready {
			s.State = stateDegraded
		}
	}
	return s, nil
}

// nodesOf asks the API for the nodes and how many pods each has.
func nodesOf(ctx context.Context, config string) ([]nodeStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rest, err := clientcmd.BuildConfigFromFlags("", config)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return nil, err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	if err != nil {
		return nil, err
	}
	busy := map[string]int{}
	for _, p := range pods.Items {
		busy[p.Spec.NodeName]++
	}
	all := []nodeStatus{}
	for _, n := range nodes.Items {
		s := nodeStatus{
			Name: n.Name, Limits: n.Annotations[node.LimitsAnnotation], Pods: busy[n.Name],
			CPU: n.Status.Allocatable.Cpu().String(), Memory: n.Status.Allocatable.Memory().Value(),
		}
		if gpus, ok := n.Status.Allocatable["nvidia.com/gpu"]; ok {
			s.GPUs = gpus.String()
		}
		for _, c := range n.Status.Conditions {
			s.Ready = s.Ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		all = append(all, s)
	}
	return all, nil
}

func (s status) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "state\t%s\n", s.State)
	for _, f := range [][2]string{{"apiserver", s.APIServer}, {"kubeconfig", s.Kubeconfig}, {"object store", s.Objects}, {"trouble", s.Trouble}} {
		if f[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", f[0], f[1])
		}
	}
	if s.PID != 0 {
		fmt.Fprintf(w, "process\t%d\n", s.PID)
	}
	for _, c := range s.Components {
		fmt.Fprintf(w, "%s\t%s\tpid %d\trestarts %d\t%d MB\n", c.Name, c.State, c.PID, c.Restarts, c.Memory>>20)
	}
	for _, n := range s.Nodes {
		gpus := ""
		if n.GPUs != "" && n.GPUs != "0" {
			gpus = "\tgpus " + n.GPUs
		}
		fmt.Fprintf(w, "node %s\tready %v\tpods %d\tcpu %s\tmemory %d MB%s\n", n.Name, n.Ready, n.Pods, n.CPU, n.Memory>>20, gpus)
	}
	if len(s.Nodes) > 0 {
		fmt.Fprintf(w, "limits\t%s\n", s.Nodes[0].Limits)
	}
	return w.Flush()
}
