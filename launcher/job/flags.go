package job

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"
)

// Bind has a command line fill in the options.
func (o *Options) Bind(f *pflag.FlagSet) {
	o.podFlags(f)
	o.placeFlags(f)
	o.lifeFlags(f)
}

// Parse reads the launcher's command line: the kind of job, its options, and the command after "--". Options that are not about
// the job are passed over.
func Parse(args []string) (*Spec, error) {
	i := -1
	if len(args) > 0 {
		i = slices.IndexFunc(Kinds(), func(k *Kind) bool { return k.Command == args[0] })
	}
	if i < 0 {
		return nil, fmt.Errorf("the command line %q names no kind of job", args)
	}
	kind := Kinds()[i]
	var o Options
	f := pflag.NewFlagSet(kind.Command, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.ParseErrorsAllowlist.UnknownFlags = true
	o.Bind(f)
	if err := f.Parse(args[1:]); err != nil {
		return nil, err
	}
	if f.NArg() != 1 {
		return nil, fmt.Errorf("the job's command must follow the flags as one argument: %s [flags] -- COMMAND", kind.Command)
	}
	return o.Spec(kind, f.Arg(0))
}

// podFlags say what the job's pods are.
func (o *Options) podFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Name, "name", "", "name of the step")
	f.StringVar(&o.Image, "image", "", "image of the job's pods")
	f.StringVar(&o.Workers, "workers", "1", "number of workers")
	f.StringVar(&o.Slots, "slots", "", "ranks of each worker (of an MPIJob as many as its GPUs; 1)")
	f.StringVar(&o.GPUs, "gpus", "", "GPUs of each worker")
	f.StringVar(&o.GPUTopology, "gputopology", "", "true: GPUs with fast links between them, aliyun.com/gpu, on Alibaba Cloud; of an MPIJob")
	f.StringArrayVar(&o.Devices, "device", nil, "other devices of each worker, RESOURCE=COUNT, such as amd.com/gpu=8 (repeatable)")
	f.StringVar(&o.RDMA, "rdma", "", "true: each worker has an RDMA device, rdma/hca")
	f.StringVar(&o.CPU, "cpu", "", "CPU limit of each worker, such as 500m or 2")
	f.StringVar(&o.Memory, "memory", "", "memory limit of each worker, such as 10Gi")
	f.StringVar(&o.Shm, "shm", "", "size of /dev/shm, such as 2Gi")
	f.StringArrayVar(&o.Role.Replicas, "role-replicas", nil, "number of pods of a role, ROLE=NUMBER, such as ps=1 (repeatable)")
	f.StringArrayVar(&o.Role.Image, "role-image", nil, "image of a role, ROLE=IMAGE (repeatable)")
	f.StringArrayVar(&o.Role.Command, "role-command", nil, "command of a role, ROLE=COMMAND (repeatable)")
	f.StringArrayVar(&o.Role.GPUs, "role-gpus", nil, "GPUs of each pod of a role, ROLE=NUMBER (repeatable)")
	f.StringArrayVar(&o.Role.CPU, "role-cpu", nil, "CPU limit of each pod of a role, ROLE=CPU (repeatable)")
	f.StringArrayVar(&o.Role.Memory, "role-memory", nil, "memory limit of each pod of a role, ROLE=MEMORY (repeatable)")
	f.StringArrayVar(&o.Role.Selector, "role-selector", nil, "label of a role's nodes, ROLE=KEY=VALUE (repeatable)")
	f.StringArrayVar(&o.Role.Ends, "role-ends", nil, "the job is complete with this role, ROLE=true (repeatable)")
	f.StringArrayVar(&o.Env, "env", nil, "variable to set, NAME=VALUE (repeatable)")
	f.StringArrayVar(&o.EnvSecrets, "env-secret", nil, "variable whose value is an entry of a secret, NAME=SECRET/KEY (repeatable)")
	f.StringArrayVar(&o.Data, "data", nil, "volume to mount, CLAIM:/PATH, or a folder of the node, /FOLDER:/PATH (repeatable)")
	f.StringVar(&o.MountsOnLauncher, "mounts-on-launcher", "", "false: an MPIJob's launcher pod is without the volumes (true)")
	f.StringArrayVar(&o.Annotations, "annotation", nil, "annotation of the job and its pods, KEY=VALUE (repeatable)")
	f.StringArrayVar(&o.Labels, "label", nil, "label of the job and its pods, KEY=VALUE (repeatable)")
	f.StringVar(&o.SyncMode, "sync-mode", "", "how to fetch code: git or rsync (git)")
	f.StringVar(&o.SyncSource, "sync-source", "", "what to fetch into WORKING-DIR/code")
	f.StringVar(&o.SyncImage, "sync-image", "", "image that fetches it, one for git as git-sync does (the launcher's own; for rsync the job's)")
	f.StringVar(&o.GitBranch, "git-branch", "", "branch or tag (the repository's default)")
	f.StringVar(&o.GitRevision, "git-revision", "", "commit (the newest of the branch)")
	f.StringVar(&o.WorkingDir, "working-dir", "", "where the command runs (/root)")
	f.StringVar(&o.Shell, "shell", "", "shell that runs the command (sh)")
	f.StringVar(&o.PullPolicy, "image-pull-policy", "", "Always, IfNotPresent or Never")
	f.StringArrayVar(&o.PullSecrets, "image-pull-secret", nil, "secret with the registry's password (repeatable)")
	f.StringVar(&o.ServiceAccount, "service-account", "", "account of the job's pods")
}

// placeFlags say where the pods run, and when.
func (o *Options) placeFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.Selector, "selector", nil, "label of the nodes to run on, KEY=VALUE (repeatable)")
	f.StringArrayVar(&o.Tolerations, "toleration", nil, "taint to tolerate, KEY=VALUE:EFFECT,OPERATOR, or all (repeatable)")
	f.StringVar(&o.Network, "network", "", "CNI, Host or ENI (CNI)")
	f.StringVar(&o.SSHPort, "ssh-port", "", "port of an MPIJob's workers (22; with --network=Host one of 20000 to 29999)")
	f.StringVar(&o.HostIPC, "host-ipc", "", "true: share the node's shared memory")
	f.StringVar(&o.HostPID, "host-pid", "", "true: see the node's processes")
	f.StringVar(&o.Gang, "gang", "", "true: place all pods together or none; false: each as it finds room (what the cluster does)")
	f.StringVar(&o.Queue, "queue", "", "queue of the gang scheduler")
	f.StringVar(&o.Priority, "priority", "", "priority class")
	f.StringVar(&o.Scheduler, "scheduler", "", "scheduler of the pods")
	f.StringVar(&o.Affinity, "affinity", "", "roles to place on one node, such as ps,worker")
	f.StringVar(&o.AntiAffinity, "anti-affinity", "", "roles to place apart, such as ps")
	f.StringVar(&o.Order, "task-order", "", "roles in the order in which they are placed, such as ps,worker")
}

// lifeFlags say what comes of the job.
func (o *Options) lifeFlags(f *pflag.FlagSet) {
	f.StringVar(&o.TensorBoard, "tensorboard", "", "true: run TensorBoard beside the job")
	f.StringVar(&o.TensorBoardImage, "tensorboard-image", "", "its image (TensorFlow's own)")
	f.StringVar(&o.LogDir, "logdir", "", "what it shows, on a volume of the job (/training_logs)")
	f.StringArrayVar(&o.Metrics, "metric", nil, "metric to read from the output, NAME[:RAW|PERCENTAGE[:last|max|min|mean|sum[:REGEX]]] (repeatable)")
	f.StringVar(&o.PendingTimeout, "pending-timeout", "", "fail when the job has not started by then (never)")
	f.StringVar(&o.RunningTimeout, "running-timeout", "", "fail when the job has not ended by then (never)")
	f.StringVar(&o.SilenceTimeout, "silence-timeout", "", "fail when no rank has printed anything for so long (never)")
	f.StringVar(&o.AllowFewerRanks, "allow-fewer-ranks", "", "true: the job may run with fewer ranks than it was asked for")
	f.StringVar(&o.TTL, "ttl-after-finished", "", "how long the job stays after its end (as long as its workflow)")
	f.StringVar(&o.CleanPodPolicy, "clean-pod-policy", "", "pods to delete at the end: Running, All or None (Running)")
	f.StringVar(&o.RestartPolicy, "restart-policy", "", "OnFailure: a pod that fails starts again in its place, --retries times in all; Never: the whole job does (Never)")
	f.StringVar(&o.Retries, "retries", "", "how often a failed job is started again (never)")
}
