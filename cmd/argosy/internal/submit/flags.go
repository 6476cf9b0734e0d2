package submit

import (
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// Choices are the values of flags that take one of a few.
var Choices = map[string][]string{
	"sync-mode": {"git", "rsync"}, "network": {"CNI", "Host", "ENI"}, "shell": {"sh", "bash"},
	"image-pull-policy": {"Always", "IfNotPresent", "Never"}, "clean-task-policy": {"Running", "All", "None"}, "restart-policy": {"Never", "OnFailure"},
}

// podFlags say what the job's pods are.
func (j *Job) podFlags(b *binder) {
	s := &j.spec
	b.StringVar(&j.Name, "name", "", "`name` of the run, which no other has, and of its step (default: the kind's, for the run with the time)")
	b.text(&s.Image, "image", "container `image` of the job's pods")
	if j.kind.Name != "job" {
		b.whole(&s.Workers, "workers", "`number` of workers (default 1)")
	}
	b.whole(&s.GPUs, "gpus", "`number` of GPUs of each worker")
	b.text(&s.CPU, "cpu", "`CPUs` of each worker, such as 500m or 2")
	b.text(&s.Memory, "memory", "`memory` of each worker, such as 10Gi")
	b.text(&s.SharedMemory, "share-memory", "`size` of /dev/shm, such as 2Gi")
	b.wholes(&s.Devices, "device", "other devices of each worker, as `resource=count`, such as amd.com/gpu=8; may be repeated")
	b.truth(&s.RDMA, "rdma", "give each worker an RDMA device, rdma/hca")
	b.pairs((*map[string]dsl.Value[string])(&s.Env), "env", "e", "variable of all processes, as `name=value`; may be repeated")
	b.each("env-secret", "variable of all processes from a secret, as `name=secret/key`; may be repeated", func(text string) error {
		name, entry, err := pair(text)
		if err != nil {
			return err
		}
		secret, key, ok := strings.Cut(entry, "/")
		if !ok {
			return fmt.Errorf("the entry for %s is %q: want secret/key", name, entry)
		}
		if s.Env == nil {
			s.Env = dsl.Env{}
		}
		s.Env[name] = dsl.Secret(secret, key)
		return nil
	})
	b.list(&s.Data, "data", "d", "volume claim to mount, as `claim:/path`; may be repeated")
	b.each("data-dir", "folder of the nodes to mount, as `/folder:/path`, or /folder for the same path; may be repeated", func(text string) error {
		if !strings.Contains(text, ":") {
			text += ":" + text
		}
		s.Data = append(s.Data, dsl.Lit(text))
		return nil
	})
	b.pairs(&s.Annotations, "annotation", "a", "annotation of the job and its pods, as `key=value`; may be repeated")
	b.pairs(&s.Labels, "label", "l", "label of the job and its pods, as `key=value`; may be repeated")
	b.StringVar(&j.syncMode, "sync-mode", "", "how to fetch code: `git` or rsync")
	b.text(&j.syncSource, "sync-source", "`place` to fetch code from, into code below the working directory")
	b.text(&j.syncImage, "sync-image", "container `image` that fetches it")
	b.text(&s.WorkingDir, "working-dir", "`folder` the command runs in (default /root)")
	b.text(&s.Shell, "shell", "`shell` that runs the command (default sh)")
	b.StringVar(&s.ImagePullPolicy, "image-pull-policy", "", "when the image is pulled: `Always`, IfNotPresent or Never")
	b.list(&s.ImagePullSecrets, "image-pull-secret", "", "`secret` with a registry's password; may be repeated")
	b.text(&s.ServiceAccount, "service-account", "`account` of the job's pods")
	b.text(&s.LauncherImage, "launcher-image", "container `image` of the step that starts the job")
}

// placeFlags say where the pods run, and when.
func (j *Job) placeFlags(b *binder) {
	s := &j.spec
	b.pairs(&s.NodeSelector, "selector", "", "label of the nodes to run on, as `key=value`; may be repeated")
	b.each("toleration", "taint to tolerate, as `key[=value][:effect][,operator]`, or all; may be repeated", func(text string) error {
		t, err := toleration(text)
		s.Tolerations = append(s.Tolerations, t)
		return err
	})
	b.BoolVar(&j.hostNetwork, "host-network", false, "use the nodes' own network")
	b.each("network", "network of the pods: `CNI`, Host or ENI (default CNI)", func(text string) error {
		for _, n := range []train.Network{train.CNI, train.Host, train.ENI} {
			if strings.EqualFold(text, string(n)) {
				s.Network = dsl.Lit(n)
				return nil
			}
		}
		return fmt.Errorf("want CNI, Host or ENI")
	})
	b.truth(&s.HostIPC, "host-ipc", "share the nodes' shared memory")
	b.truth(&s.HostPID, "host-pid", "see the nodes' processes")
	b.truth(&s.Gang, "gang", "place all pods together or none; --gang=false places each as it finds room")
	b.text(&s.Queue, "queue", "`queue` of the gang scheduler")
	b.textShort(&s.Priority, "priority", "p", "priority `class`")
	b.text(&s.Scheduler, "scheduler", "`scheduler` of the pods")
}

// lifeFlags say what comes of the job.
func (j *Job) lifeFlags(b *binder) {
	s := &j.spec
	b.truth(&s.TensorBoard.Enabled, "tensorboard", "run TensorBoard beside the job")
	b.text(&s.TensorBoard.Image, "tensorboard-image", "container `image` of TensorBoard")
	b.text(&s.TensorBoard.LogDir, "logdir", "`folder` that TensorBoard shows, on a volume of the job (default /training_logs)")
	b.each("metric", "number to read from the output, as `name[:format[:reduce[:regex]]]`; may be repeated; empty for none (default "+DefaultMetric+")", func(text string) error {
		m, err := metric(text)
		s.Metrics = append(s.Metrics, m)
		return err
	})
	b.time(&s.PendingTimeout, "starting-timeout", "fail when the job has not started after this `time`, such as 30m")
	b.time(&s.RunningTimeout, "running-timeout", "fail when the job has not ended after this `time`, such as 12h")
	b.time(&s.SilenceTimeout, "silence-timeout", "fail when no process of the job has printed anything for this `time`, such as 30m")
	b.truth(&s.AllowFewerRanks, "allow-fewer-ranks", "go on when fewer processes take part than were asked for")
	b.time(&s.TTL, "ttl-after-finished", "`time` that the job stays after its end (default: as long as its run)")
	b.each("clean-task-policy", "pods to delete at the end: `Running`, All or None (default Running)", func(text string) error {
		s.CleanPodPolicy = train.CleanPodPolicy(text)
		return nil
	})
	b.each("restart-policy", "what starts again when a pod fails: the whole job, `Never`, or the pod in its place, OnFailure (default Never)", func(text string) error {
		s.RestartPolicy = train.RestartPolicy(text)
		return nil
	})
	b.whole(&s.Retries, "retry", "`number` of times that a failed job is started again")
}

func (j *Job) mpiFlags(b *binder) {
	b.whole(&j.spec.Slots, "slots", "`number` of processes of each worker (default: its GPUs)")
	b.truth(&j.spec.GPUTopology, "gputopology", "ask for GPUs with fast links between them, aliyun.com/gpu")
	b.truth(&j.spec.MountsOnLauncher, "mounts-on-launcher", "mount the volumes in the launcher pod too (default true)")
	b.whole(&j.spec.SSHPort, "ssh-port", "`port` of the workers' sshd (default 22; on the host network one of 20000 to 29999)")
}

func (j *Job) pytorchFlags(b *binder) {
	b.whole(&j.spec.Slots, "nproc-per-node", "`number` of processes of each pod (default 1)")
}

func (j *Job) tfFlags(b *binder) {
	b.whole(&j.ps.Replicas, "ps", "`number` of parameter servers")
	for name, role := range map[string]*train.Role{"chief": &j.chief, "evaluator": &j.evaluator} {
		b.switchOn(name, "add a pod with the role "+name, func(on bool) {
			role.Replicas = dsl.Lit(0)
			if on {
				role.Replicas = dsl.Lit(1)
			}
		})
	}
	for name, role := range map[string]*train.Role{"ps": &j.ps, "chief": &j.chief, "evaluator": &j.evaluator, "worker": &j.worker} {
		b.text(&role.Image, name+"-image", "container `image` of the role "+name)
		b.text(&role.CPU, name+"-cpu", "`CPUs` of each pod of the role "+name)
		b.text(&role.Memory, name+"-memory", "`memory` of each pod of the role "+name)
		b.whole(&role.GPUs, name+"-gpus", "`number` of GPUs of each pod of the role "+name)
		b.pairs(&role.NodeSelector, name+"-selector", "", "label of the nodes of the role "+name+", as `key=value`; may be repeated")
		b.refuse(name+"-port", "the operator gives every pod the port 2222")
		b.refuse(name+"-cpu-limit", "the limit is what is asked for: use --"+name+"-cpu")
		b.refuse(name+"-memory-limit", "the limit is what is asked for: use --"+name+"-memory")
	}
	b.each("role-sequence", "`roles` in the order in which they are placed, such as ps,worker,chief", func(text string) error {
		order, err := roleSequence(text)
		j.spec.Topology.Order = order
		return err
	})
	b.refuse("success-policy", "the job ends with its chief, or with its first worker")
}

func (j *Job) mxFlags(b *binder) {
	b.whole(&j.ps.Replicas, "servers", "`number` of servers (default 1)")
}

// leftOut answers to Arena's flags that have no meaning here.
func (b *binder) leftOut() {
	for name, why := range map[string]string{
		"config-file":     "a run has no files of the machine that submits it: put the file on a volume (--data) or into the repository (--sync-source)",
		"model-name":      "there is no serving to register a model for: leave it out, and let the command save the model",
		"model-source":    "there is no serving to register a model for: leave it out, and let the command save the model",
		"ssh-secret":      "the operator makes a key for each job: leave it out",
		"namespace":       "runs go to the namespace of the server: leave it out, or name another server with --server",
		"arena-namespace": "nothing of Arena is installed in the cluster: leave it out",
		"loglevel":        "the flag is --log-level here",
		"config":          "the server has the configuration of the cluster: leave it out, or name another server with --server",
	} {
		b.refuse(name, why)
	}
}

// toleration reads Arena's form KEY=VALUE:EFFECT,OPERATOR, where all but KEY may be left out.
func toleration(text string) (train.Toleration, error) {
	rest, operator, _ := strings.Cut(text, ",")
	pair, effect, _ := strings.Cut(rest, ":")
	key, value, valued := strings.Cut(pair, "=")
	t := train.Toleration{Key: key, Effect: effect}
	switch {
	case operator != "" && operator != "Exists" && operator != "Equal":
		return t, fmt.Errorf("the operator %q is neither Exists nor Equal", operator)
	case valued && operator != "Exists", operator == "Equal":
		t.Value = dsl.Lit(value)
	}
	return t, nil
}

// metric reads a rule with the parser that reads what the job prints.
func metric(text string) (train.Metric, error) {
	if text == "" {
		return train.Metric{}, nil
	}
	rule, err := scrape.ParseRule(text)
	if err != nil {
		return train.Metric{}, err
	}
	m := train.Metric{Name: rule.Name}
	if rule.Format != scrape.Raw {
		m.Format = train.Format(rule.Format)
	}
	switch rule.Reduce {
	case scrape.Last:
	case scrape.Sum:
		m.Reduce = train.SumOverRanks
	default:
		m.Reduce = train.Reduce(rule.Reduce)
	}
	if rule.Pattern != nil {
		m.Pattern = rule.Pattern.String()
	}
	return m, nil
}

// roleSequence reads Worker,PS,Chief,Evaluator or w,p,c,e.
func roleSequence(text string) ([]string, error) {
	var order []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		found := ""
		for _, role := range []string{"worker", "ps", "chief", "evaluator"} {
			if word == role || word == role[:1] {
				found = role
			}
		}
		if found == "" {
			return nil, fmt.Errorf("%q is not one of worker, ps, chief and evaluator", word)
		}
		order = append(order, found)
	}
	return order, nil
}
