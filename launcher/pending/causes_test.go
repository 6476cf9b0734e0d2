package pending_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/pending"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// facts are a pod that is a minute old, with its events and related objects.
func facts(pod *corev1.Pod, events ...corev1.Event) pending.Facts {
	pod.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
	return pending.Facts{Pod: pod, Main: "main", Events: events, Ready: true, Now: now}
}

// event is one of the pod, so many seconds before now.
func event(before int, kind, reason, message string) corev1.Event {
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: "data"}, Reason: reason, Message: message,
		LastTimestamp: metav1.NewTime(now.Add(-time.Duration(before) * time.Second)),
	}
}

func none(message string) *corev1.Pod {
	return stepPod(unscheduled(corev1.PodReasonUnschedulable, message))
}

// placed is a pod that has a node.
func placed(change ...func(*corev1.Pod)) *corev1.Pod {
	return stepPod(append([]func(*corev1.Pod){func(p *corev1.Pod) { p.Spec.NodeName = "big" }, inMain("ContainerCreating", "")}, change...)...)
}

func inInitRuns(p *corev1.Pod) {
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "fetch", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
}

const noVictims = " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."

// The texts are as kube-scheduler, kubelet, the volume controller, containerd and the API server of Kubernetes 1.34, Volcano 1.14 and
// Argo 3.7 write them: copied from their sources and from clusters.
func TestCauses(t *testing.T) {
	t.Parallel()
	type judged interface{ Judge() pending.Verdict }
	cases := map[string]struct {
		of   judged
		want pending.Cause
	}{
		// kube-scheduler, of nodes
		"cpu":              {facts(none("0/3 nodes are available: 3 Insufficient cpu." + noVictims)), pending.InsufficientResources},
		"gpu beside taint": {facts(none("0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint {gpu: only}." + noVictims)), pending.InsufficientResources},
		"too many pods":    {facts(none("0/3 nodes are available: 3 Too many pods." + noVictims)), pending.TooManyPods},
		"taint":            {facts(none("0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: train}." + noVictims)), pending.Taint},
		"not ready":        {facts(none("0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }." + noVictims)), pending.NodeNotReady},
		"unreachable":      {facts(none("0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/unreachable: }." + noVictims)), pending.NodeNotReady},
		"disk pressure":    {facts(none("0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }." + noVictims)), pending.NodePressure},
		"cordoned":         {facts(none("0/3 nodes are available: 3 node(s) were unschedulable." + noVictims)), pending.NodeCordoned},
		"selector": {facts(stepPod(unscheduled(corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."+noVictims),
			func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"gpu": "v100"} })), pending.NodeSelector},
		"affinity": {facts(stepPod(unscheduled(corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."+noVictims),
			func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} })), pending.NodeAffinity},
		"node name":        {facts(none("0/3 nodes are available: 3 node(s) didn't match the requested node name." + noVictims)), pending.NodeName},
		"pod affinity":     {facts(none("0/3 nodes are available: 3 node(s) didn't match pod affinity rules." + noVictims)), pending.PodAffinity},
		"anti-affinity":    {facts(none("0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules." + noVictims)), pending.PodAntiAffinity},
		"others' affinity": {facts(none("0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity rules." + noVictims)), pending.PodAntiAffinity},
		"spread":           {facts(none("0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints." + noVictims)), pending.TopologySpread},
		"host port":        {facts(none("0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports." + noVictims)), pending.HostPort},
		"no nodes":         {facts(none("0/0 nodes are available: .")), pending.NoNodes},
		"device claims":    {facts(none("0/3 nodes are available: 3 cannot allocate all claims." + noVictims)), pending.DeviceClaim},
		"most nodes":       {facts(none("0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint {a: b}." + noVictims)), pending.Taint},
		"preempting": {facts(stepPod(unscheduled(corev1.PodReasonUnschedulable, "0/1 nodes are available: 1 Insufficient cpu."),
			func(p *corev1.Pod) { p.Status.NominatedNodeName = "big" })), pending.Preempting},
		"gate":          {facts(stepPod(unscheduled(corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates"), gates("kueue.x-k8s.io/admission"))), pending.SchedulingGate},
		"scheduler":     {facts(stepPod(func(p *corev1.Pod) { p.Spec.SchedulerName = "volcano" })), pending.SchedulerMissing},
		"only an event": {facts(stepPod(), event(5, "Pod", "FailedScheduling", "0/3 nodes are available: 3 Insufficient memory."+noVictims)), pending.InsufficientResources},

		// volumes
		"claim missing": {facts(none(`0/3 nodes are available: persistentvolumeclaim "data" not found.` + noVictims)), pending.ClaimMissing},
		"claim unbound": {facts(none("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims." + noVictims)), pending.ClaimUnbound},
		"claim deleted": {facts(none(`0/3 nodes are available: persistentvolumeclaim "data" is being deleted.` + noVictims)), pending.ClaimDeleted},
		"claim lost":    {facts(none(`0/3 nodes are available: persistentvolumeclaim "data" bound to non-existent persistentvolume "pv".` + noVictims)), pending.ClaimLost},
		"claim in use":  {facts(none("0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod." + noVictims)), pending.ClaimInUse},
		"volume limit":  {facts(none("0/3 nodes are available: 3 node(s) exceed max volume count." + noVictims)), pending.VolumeLimit},
		"other zone":    {facts(none("0/3 nodes are available: 3 node(s) had no available volume zone." + noVictims)), pending.VolumeElsewhere},
		"other node":    {facts(none("0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity." + noVictims)), pending.VolumeElsewhere},
		"no volume":     {facts(none("0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind." + noVictims)), pending.NoVolume},
		"storage class": {facts(none("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."+noVictims),
			event(5, "PersistentVolumeClaim", "ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`)), pending.StorageClassMissing},
		"no class at all": {facts(none("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."+noVictims),
			event(5, "PersistentVolumeClaim", "FailedBinding", "no persistent volumes available for this claim and no storage class is set")), pending.NoVolume},
		"provisioning": {facts(none("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."+noVictims),
			event(5, "PersistentVolumeClaim", "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually by the system administrator.")), pending.VolumeProvisioning},
		"multi-attach":          {facts(placed(), event(5, "Pod", "FailedAttachVolume", `Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can't be attached to another`)), pending.ClaimInUse},
		"attach":                {facts(placed(), event(5, "Pod", "FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = no such disk`)), pending.VolumeAttach},
		"mount":                 {facts(placed(), event(5, "Pod", "FailedMount", `MountVolume.SetUp failed for volume "nfs" : mount failed: exit status 32`)), pending.VolumeMount},
		"mount of a secret":     {facts(placed(), event(5, "Pod", "FailedMount", `MountVolume.SetUp failed for volume "key" : secret "ssh-key" not found`)), pending.SecretMissing},
		"mount of a config map": {facts(placed(), event(5, "Pod", "FailedMount", `MountVolume.SetUp failed for volume "c" : configmap "settings" not found`)), pending.ConfigMapMissing},
		"mount of a key":        {facts(placed(), event(5, "Pod", "FailedMount", `MountVolume.SetUp failed for volume "c" : references non-existent secret key: token`)), pending.KeyMissing},

		// containers
		"image":         {facts(stepPod(inMain("ErrImagePull", `rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nope:1": failed to resolve reference "docker.io/library/nope:1": docker.io/library/nope:1: not found`))), pending.ImageNotFound},
		"image denied":  {facts(stepPod(inMain("ImagePullBackOff", `Back-off pulling image "x/y": ErrImagePull: failed to pull and unpack image "docker.io/x/y:latest": failed to resolve reference "docker.io/x/y:latest": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`))), pending.ImageDenied},
		"image, 401":    {facts(stepPod(inMain("ErrImagePull", `failed to resolve reference "r.example.com/x:1": unexpected status from HEAD request to https://r.example.com/v2/x/manifests/1: 401 Unauthorized`))), pending.ImageDenied},
		"rate limit":    {facts(stepPod(inMain("ErrImagePull", `failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/x/manifests/sha256:1: 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit.`))), pending.ImageRateLimited},
		"platform":      {facts(stepPod(inMain("ErrImagePull", `failed to pull and unpack image "docker.io/x/y:1": no match for platform in manifest: not found`))), pending.ImageWrongPlatform},
		"registry":      {facts(stepPod(inMain("ErrImagePull", `failed to do request: Head "https://r.example.com/v2/x/manifests/1": dial tcp: lookup r.example.com: no such host`))), pending.RegistryUnreachable},
		"image name":    {facts(stepPod(inMain("InvalidImageName", `Failed to apply default image tag "X Y": couldn't parse image name "X Y": invalid reference format`))), pending.ImageName},
		"image never":   {facts(stepPod(inMain("ErrImageNeverPull", `Container image "nope:1" is not present with pull policy of Never`))), pending.ImageNever},
		"pulling":       {facts(placed(), event(20, "Pod", "Scheduled", "Successfully assigned kubeflow/p to big"), event(19, "Pod", "Pulling", `Pulling image "horovod:1"`)), pending.ImagePulling},
		"pulled":        {facts(placed(), event(19, "Pod", "Pulling", `Pulling image "horovod:1"`), event(3, "Pod", "Pulled", `Successfully pulled image "horovod:1" in 16s`)), pending.Starting},
		"secret":        {facts(stepPod(inMain("CreateContainerConfigError", `secret "token" not found`))), pending.SecretMissing},
		"config map":    {facts(stepPod(inMain("CreateContainerConfigError", `configmap "settings" not found`))), pending.ConfigMapMissing},
		"key":           {facts(stepPod(inMain("CreateContainerConfigError", "couldn't find key token in Secret kubeflow/s"))), pending.KeyMissing},
		"root":          {facts(stepPod(inMain("CreateContainerConfigError", "container has runAsNonRoot and image will run as root (pod: \"p_kubeflow(1)\", container: main)"))), pending.ContainerConfig},
		"no program":    {facts(stepPod(inMain("RunContainerError", `failed to create containerd task: failed to create shim task: OCI runtime create failed: exec: "train": executable file not found in $PATH`))), pending.ContainerCreate},
		"init fails":    {facts(stepPod(inInit("CrashLoopBackOff", "back-off 10s restarting failed container=init"))), pending.InitFailing},
		"init runs":     {facts(placed(inInitRuns)), pending.InitRunning},
		"runtime class": {facts(placed(), event(5, "Pod", "FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured`)), pending.RuntimeClass},
		"network":       {facts(placed(), event(5, "Pod", "FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "1": plugin type="calico" failed (add): error getting ClusterInformation`)), pending.Sandbox},
		"kubelet":       {facts(stepPod(func(p *corev1.Pod) { p.Spec.NodeName = "big" }), event(50, "Pod", "Scheduled", "Successfully assigned")), pending.NodeSilent},
		"node is full":  {facts(stepPod(inMain("OutOfcpu", "the node has too little cpu left"))), pending.NodeRefuses},

		// what the API server answers to Argo and to operators
		"quota":           {refusal(`pods "p" is forbidden: exceeded quota: compute, requested: requests.cpu=4, used: requests.cpu=6, limited: requests.cpu=8`), pending.Quota},
		"limits":          {refusal(`pods "p" is forbidden: [maximum cpu usage per Container is 2, but limit is 4]`), pending.LimitRange},
		"pod security":    {refusal(`pods "p" is forbidden: violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)`), pending.PodSecurity},
		"service account": {refusal(`pods "p" is forbidden: error looking up service account kubeflow/trainer: serviceaccount "trainer" not found`), pending.ServiceAccountMissing},
		"priority class":  {refusal(`pods "p" is forbidden: no PriorityClass with name high was found`), pending.PriorityClassMissing},
		"webhook":         {refusal(`admission webhook "policy.example.com" denied the request: images must come from r.example.com`), pending.WebhookDenied},
		"webhook is away": {refusal(`Internal error occurred: failed calling webhook "validatejob.volcano.sh": failed to call webhook: Post "https://volcano-admission-service.volcano-system.svc:443/jobs/validate?timeout=10s": no endpoints available for service "volcano-admission-service"`), pending.WebhookUnreachable},
		"rights":          {refusal(`pods is forbidden: User "system:serviceaccount:kubeflow:training-operator" cannot create resource "pods" in API group "" in the namespace "kubeflow"`), pending.RightsMissing},
		"closed, webhook": {refusal("admission webhook \"validatepodgroup.volcano.sh\" denied the request: can only submit PodGroup to queue with state `Open`, queue `night` status is `Closed`. "), pending.QueueClosed},
		"lock":            {step{"another step or run holds the lock kubeflow/Mutex/gpu", ""}, pending.Lock},
		"parallelism":     {step{"", "Workflow processing has been postponed because too many workflows are already running"}, pending.Parallelism},

		// Volcano
		"gang":            {pending.Group{Phase: "Inqueue", Queue: "default", Message: "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable"}, pending.GangIncomplete},
		"gang of a pod":   {facts(none("3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable")), pending.GangIncomplete},
		"one by one":      {pending.Group{Phase: "Inqueue", Queue: "default", Message: "2/2 tasks in gang unschedulable: pod group is not ready, 1 minAvailable, 2 Pending; Pending: 2 Unschedulable"}, pending.Unschedulable},
		"queue full":      {pending.Group{Phase: "Pending", Queue: "q", QueueState: "Open", Events: []corev1.Event{event(5, "PodGroup", "Unschedulable", "queue resource quota insufficient: insufficient cpu, insufficient nvidia.com/gpu")}}, pending.QueueFull},
		"overused":        {pending.Group{Phase: "Pending", Queue: "q", Events: []corev1.Event{event(5, "PodGroup", "Unschedulable", "resource in cluster is overused: overused cpu")}}, pending.InsufficientResources},
		"quota of a gang": {pending.Group{Phase: "Pending", Queue: "q", Events: []corev1.Event{event(5, "PodGroup", "Unschedulable", "resource quota insufficient, requested: map[cpu:4], used: map[cpu:6], limited: map[cpu:8]")}}, pending.Quota},
		"closed queue":    {pending.Group{Phase: "Pending", Queue: "q", QueueState: "Closed"}, pending.QueueClosed},
		"no such queue":   {pending.Group{Phase: "Pending", Queue: "q", QueueState: pending.Missing}, pending.QueueMissing},
		"turn":            {pending.Group{Phase: "Pending", Queue: "q", QueueState: "Open"}, pending.QueueTurn},
		"gang that runs":  {pending.Group{Phase: "Running", Queue: "q", QueueState: "Closed"}, ""},
		"pod that runs":   {facts(stepPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })), ""},
	}
	require.GreaterOrEqual(t, len(cases), 40)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := tc.of.Judge()
			require.Equal(t, tc.want, v.Cause, v.Text)
			require.Equal(t, tc.want == "", v.Text == "", "a cause has a sentence")
			require.NotContains(t, v.Text, "\n")
		})
	}
}

type refusal string

func (r refusal) Judge() pending.Verdict { return pending.Refused(string(r)) }

type step struct{ sentence, message string }

func (s step) Judge() pending.Verdict { return pending.Step(s.sentence, s.message) }

func TestLackingOfAQuota(t *testing.T) {
	t.Parallel()
	v := pending.Refused(`pods "p" is forbidden: exceeded quota: compute, requested: requests.cpu=4,limits.memory=8Gi, used: requests.cpu=6, limited: requests.cpu=8`)
	require.Equal(t, []string{"cpu", "memory"}, v.Lacking)
	require.Zero(t, pending.Refused("PodInitializing"))
	require.Equal(t, pending.StepStarting, pending.Step("", "").Cause)
}
