package train

import (
	"maps"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// args are the launcher's arguments. Each value is one argument, so nothing in it can become another.
func (job Spec) args(name string, k kind, roles []Task) []dsl.Value[string] {
	a := arguments{dsl.Lit(k.command)}
	a.flag("Name", "--name=", dsl.Lit(name))
	a.flag("Image", "--image=", job.Image)
	if !k.single {
		a.flag("Workers", "--workers=", or(job.Workers, 1))
	}
	if k.slots {
		a.flag("Slots", "--slots=", job.Slots)
	}
	a.flag("GPUs", "--gpus=", or(job.GPUs, 0))
	a.optional("GPUTopology", "--gputopology=", job.GPUTopology)
	a.flag("CPU", "--cpu=", job.CPU)
	a.flag("Memory", "--memory=", job.Memory)
	a.optional("SharedMemory", "--shm=", job.SharedMemory)
	pairs(&a, "Devices", "--device=", job.Devices)
	a.optional("RDMA", "--rdma=", job.RDMA)
	for _, r := range roles {
		a.role(r)
	}
	a.env(job.Env)
	a.list("Data", "--data=", job.Data)
	a.optional("MountsOnLauncher", "--mounts-on-launcher=", job.MountsOnLauncher)
	pairs(&a, "Annotations", "--annotation=", job.Annotations)
	pairs(&a, "Labels", "--label=", job.Labels)
	a.code(job)
	a.optional("WorkingDir", "--working-dir=", job.WorkingDir)
	a.optional("Shell", "--shell=", job.Shell)
	a.constant("--image-pull-policy=", job.ImagePullPolicy)
	a.list("ImagePullSecrets", "--image-pull-secret=", job.ImagePullSecrets)
	a.optional("ServiceAccount", "--service-account=", job.ServiceAccount)
	a.placement(job)
	a.optional("TensorBoard.Enabled", "--tensorboard=", job.TensorBoard.Enabled)
	a.optional("TensorBoard.Image", "--tensorboard-image=", job.TensorBoard.Image)
	a.optional("TensorBoard.LogDir", "--logdir=", job.TensorBoard.LogDir)
	for _, m := range job.Metrics {
		a.flag("Metrics", "--metric=", m.rule())
	}
	a.optional("PendingTimeout", "--pending-timeout=", job.PendingTimeout)
	a.optional("RunningTimeout", "--running-timeout=", job.RunningTimeout)
	a.optional("SilenceTimeout", "--silence-timeout=", job.SilenceTimeout)
	a.optional("AllowFewerRanks", "--allow-fewer-ranks=", job.AllowFewerRanks)
	a.optional("TTL", "--ttl-after-finished=", job.TTL)
	a.constant("--clean-pod-policy=", string(job.CleanPodPolicy))
	a.constant("--restart-policy=", string(job.RestartPolicy))
	a.optional("Retries", "--retries=", job.Retries)
	return append(a, dsl.Lit("--"), dsl.Named(or(job.Command, ""), "Command"))
}

// arguments is a command line under construction.
type arguments []dsl.Value[string]

// code says what to fetch.
func (a *arguments) code(job Spec) {
	switch {
	case job.Git.Repo.IsSet():
		a.constant("--sync-mode=", "git")
		a.flag("Git.Repo", "--sync-source=", job.Git.Repo)
		a.optional("Git.Branch", "--git-branch=", job.Git.Branch)
		a.optional("Git.Revision", "--git-revision=", job.Git.Revision)
		a.optional("Git.Image", "--sync-image=", job.Git.Image)
	case job.Rsync.Source.IsSet():
		a.constant("--sync-mode=", "rsync")
		a.flag("Rsync.Source", "--sync-source=", job.Rsync.Source)
		a.optional("Rsync.Image", "--sync-image=", job.Rsync.Image)
	}
}

// env sets variables: first the values, then the entries of secrets, which only the job's pods read.
func (a *arguments) env(env dsl.Env) {
	values, secrets := dsl.Env{}, dsl.Env{}
	for name, v := range env {
		if secret, key, ok := dsl.SecretOf(v); ok {
			secrets[name] = dsl.Lit(secret + "/" + key)
		} else {
			values[name] = v
		}
	}
	pairs(a, "Env", "--env=", values)
	pairs(a, "Env", "--env-secret=", secrets)
}

// placement says where the pods run, and when.
func (a *arguments) placement(job Spec) {
	pairs(a, "NodeSelector", "--selector=", job.NodeSelector)
	for _, t := range job.Tolerations {
		text := dsl.Lit(t.Key)
		if t.Value.IsSet() {
			text = dsl.Sprintf("%s=%v", t.Key, t.Value)
		}
		if t.Effect != "" {
			text = dsl.Sprintf("%v:%s", text, t.Effect)
		}
		a.flag("Tolerations", "--toleration=", text)
	}
	a.optional("Network", "--network=", job.Network)
	a.optional("SSHPort", "--ssh-port=", job.SSHPort)
	a.optional("HostIPC", "--host-ipc=", job.HostIPC)
	a.optional("HostPID", "--host-pid=", job.HostPID)
	a.optional("Gang", "--gang=", job.Gang)
	a.optional("Queue", "--queue=", job.Queue)
	a.optional("Priority", "--priority=", job.Priority)
	a.optional("Scheduler", "--scheduler=", job.Scheduler)
	groups := func(all [][]string) string {
		texts := make([]string, len(all))
		for i, group := range all {
			texts[i] = strings.Join(group, ",")
		}
		return strings.Join(texts, ";")
	}
	a.constant("--affinity=", groups(job.Topology.Affinity))
	a.constant("--anti-affinity=", groups(job.Topology.AntiAffinity))
	a.constant("--task-order=", strings.Join(job.Topology.Order, ","))
}

// role says what differs for the pods of a role.
func (a *arguments) role(r Task) {
	set := func(field, flag string, v dsl.AnyValue) {
		a.optional(r.Name+" "+field, "--role-"+flag+"="+r.Name+"=", v)
	}
	set("Replicas", "replicas", r.Replicas)
	set("Image", "image", r.Image)
	set("Command", "command", r.Command)
	set("GPUs", "gpus", r.GPUs)
	set("CPU", "cpu", r.CPU)
	set("Memory", "memory", r.Memory)
	pairs(a, r.Name+" NodeSelector", "--role-selector="+r.Name+"=", r.NodeSelector)
	if r.Ends {
		a.constant("--role-ends="+r.Name+"=", "true")
	}
}

// flag adds the value of a field, or nothing after the = where it is not set.
func (a *arguments) flag(field, flag string, v dsl.AnyValue) {
	if !v.IsSet() {
		v = dsl.Lit("")
	}
	*a = append(*a, dsl.Named(dsl.Sprintf("%s%v", flag, v), field))
}

func (a *arguments) optional(field, flag string, v dsl.AnyValue) {
	if v.IsSet() {
		a.flag(field, flag, v)
	}
}

func (a *arguments) constant(flag, v string) {
	if v != "" {
		*a = append(*a, dsl.Lit(flag+v))
	}
}

func (a *arguments) list(field, flag string, values []dsl.Value[string]) {
	for _, v := range values {
		a.flag(field, flag, v)
	}
}

func pairs[T any](a *arguments, field, flag string, m map[string]dsl.Value[T]) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		a.flag(field+" "+key, flag+key+"=", m[key])
	}
}

// or returns v, or the constant where v is not set.
func or[T any](v dsl.Value[T], constant T) dsl.Value[T] {
	if v.IsSet() {
		return v
	}
	return dsl.Lit(constant)
}
