package job

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Options are the launcher's flags as they were written. They are all text,
// because they come out of a workflow's parameters: an empty one is not set.
type Options struct {
	Name, Image, WorkingDir, Shell string
	Workers, Slots, GPUs           string
	GPUTopology                    string
	CPU, Memory, Shm               string
	Devices                        []string
	RDMA                           string
	Env, EnvSecrets                []string
	Data, Annotations, Labels      []string
	MountsOnLauncher, SSHPort      string
	Role                           RoleOptions

	SyncMode, SyncSource, SyncImage string
	GitBranch, GitRevision          string

	PullPolicy, ServiceAccount string
	PullSecrets                []string
	Selector, Tolerations      []string
	Network, HostIPC, HostPID  string
	Gang                       string
	Queue, Priority, Scheduler string
	Affinity, AntiAffinity     string
	Order                      string
	TensorBoard                string
	TensorBoardImage, LogDir   string
	Metrics                    []string
	PendingTimeout             string
	RunningTimeout, TTL        string
	SilenceTimeout             string
	AllowFewerRanks            string
	CleanPodPolicy             string
	RestartPolicy, Retries     string
}

// RoleOptions are set for one role each, ROLE=VALUE.
type RoleOptions struct {
	Replicas, Image, Command, GPUs, CPU, Memory, Selector, Ends []string
}

// Spec checks the options and reports all that is wrong with them at once.
func (o *Options) Spec(kind *Kind, command string) (*Spec, error) {
	p := &parser{}
	s := &Spec{
		Kind:         kind,
		Step:         p.required("name", o.Name),
		Shell:        or(o.Shell, "sh"),
		WorkingDir:   p.dir("working-dir", o.WorkingDir, "/root"),
		Devices:      p.devices(o.Devices),
		Shm:          p.quantity("shm", o.Shm),
		RDMA:         ptrTrue(p.boolean("rdma", o.RDMA)),
		Env:          p.env(o.Env, o.EnvSecrets),
		Data:         p.data(o.Data),
		BareLauncher: p.bareLauncher(o.MountsOnLauncher),
		LinkedGPUs:   ptrTrue(p.boolean("gputopology", o.GPUTopology)),

		Annotations: p.pairs("annotation", o.Annotations, nil),
		Labels:      p.pairs("label", o.Labels, validation.IsValidLabelValue),

		PullPolicy:     p.pullPolicy(o.PullPolicy),
		PullSecrets:    p.names("image-pull-secret", o.PullSecrets),
		ServiceAccount: p.objectName("service-account", o.ServiceAccount),
		Tolerations:    p.tolerations(o.Tolerations),
		Network:        p.network(o.Network),
		HostIPC:        ptrTrue(p.boolean("host-ipc", o.HostIPC)),
		HostPID:        ptrTrue(p.boolean("host-pid", o.HostPID)),

		Gang:      p.boolean("gang", o.Gang),
		Queue:     p.objectName("queue", o.Queue),
		Priority:  p.objectName("priority", o.Priority),
		Scheduler: p.objectName("scheduler", o.Scheduler),

		TensorBoard: p.tensorBoard(o),
		Metrics:     p.metrics(o.Metrics),
		Retries:     p.integer("retries", o.Retries, 0, 0),

		CleanPodPolicy: p.cleanPodPolicy(kind, o.CleanPodPolicy),
		RestartPolicy:  p.restartPolicy(kind, o.RestartPolicy),
		PendingTimeout: p.duration("pending-timeout", o.PendingTimeout),
		RunningTimeout: p.duration("running-timeout", o.RunningTimeout),
		SilenceTimeout: p.duration("silence-timeout", o.SilenceTimeout),

		AllowFewerRanks: ptrTrue(p.boolean("allow-fewer-ranks", o.AllowFewerRanks)),

		TTL: p.ttl(o.TTL),
	}
	s.settleNetwork(strings.TrimSpace(o.Network) != "")
	p.ofMPIJob(kind, o)
	s.SSHPort = p.port("ssh-port", o.SSHPort)
	r := newRoles(p, o, s, command)
	kind.roles(r)
	s.Roles = r.all
	r.refuseOthers()
	s.Topology = p.topology(o, s)
	s.Code = p.code(o, s.Env)
	if err := errors.Join(p.faults...); err != nil {
		return nil, err
	}
	return s, nil
}

// annotationENI asks Alibaba Cloud's network for an interface of each pod's own.
const annotationENI = "k8s.aliyun.com/eni"

// settleNetwork chooses one network. The annotation goes before the host network, as with Arena: a pod cannot have both.
func (s *Spec) settleNetwork(chosen bool) {
	switch {
	case s.Network == NetworkENI, s.Annotations[annotationENI] == "true":
		s.Network = NetworkENI
		s.Annotations[annotationENI] = "true"
	case s.LinkedGPUs && !chosen:
		s.Network = NetworkHost
	}
}

func or(v, unset string) string {
	if v == "" {
		return unset
	}
	return v
}

func ptrTrue(b *bool) bool { return b != nil && *b }
