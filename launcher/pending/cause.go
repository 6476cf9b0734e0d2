package pending

import "time"

// Cause is what something waits for, for programs. docs/jobs.md has them in a table.
type Cause string

// What a pod waits for that has no node.
const (
	InsufficientResources Cause = "INSUFFICIENT_RESOURCES" // no node has as much free
	TooManyPods           Cause = "TOO_MANY_PODS"
	Taint                 Cause = "TAINT"
	NodeSelector          Cause = "NODE_SELECTOR"
	NodeAffinity          Cause = "NODE_AFFINITY"
	NodeName              Cause = "NODE_NAME"
	PodAffinity           Cause = "POD_AFFINITY"
	PodAntiAffinity       Cause = "POD_ANTI_AFFINITY"
	TopologySpread        Cause = "TOPOLOGY_SPREAD"
	HostPort              Cause = "HOST_PORT"
	NodeCordoned          Cause = "NODE_CORDONED"
	NodeNotReady          Cause = "NODE_NOT_READY"
	NodePressure          Cause = "NODE_PRESSURE" // too little disk, memory or process ids
	NoNodes               Cause = "NO_NODES"
	DeviceClaim           Cause = "DEVICE_CLAIM"
	Preempting            Cause = "PREEMPTING" // pods of lower priority make room
	SchedulingGate        Cause = "SCHEDULING_GATE"
	SchedulerMissing      Cause = "SCHEDULER_MISSING"
	Unschedulable         Cause = "UNSCHEDULABLE" // for a reason that is not known here
)

// Volumes.
const (
	ClaimMissing        Cause = "CLAIM_MISSING"
	ClaimUnbound        Cause = "CLAIM_UNBOUND"
	ClaimInUse          Cause = "CLAIM_IN_USE"
	ClaimLost           Cause = "CLAIM_LOST" // its volume is gone
	ClaimDeleted        Cause = "CLAIM_DELETED"
	StorageClassMissing Cause = "STORAGE_CLASS_MISSING"
	NoVolume            Cause = "NO_VOLUME" // none that is there suits, and none is made
	VolumeProvisioning  Cause = "VOLUME_PROVISIONING"
	VolumeElsewhere     Cause = "VOLUME_ELSEWHERE" // on other nodes or in other zones
	VolumeLimit         Cause = "VOLUME_LIMIT"
	VolumeAttach        Cause = "VOLUME_ATTACH"
	VolumeMount         Cause = "VOLUME_MOUNT"
)

// What a pod waits for on its node.
const (
	ImageNotFound       Cause = "IMAGE_NOT_FOUND"
	ImageDenied         Cause = "IMAGE_DENIED"
	ImageRateLimited    Cause = "IMAGE_RATE_LIMITED"
	ImageWrongPlatform  Cause = "IMAGE_WRONG_PLATFORM"
	ImageName           Cause = "IMAGE_NAME"
	ImageNever          Cause = "IMAGE_NEVER" // not there, and its policy is Never
	ImagePulling        Cause = "IMAGE_PULLING"
	ImagePull           Cause = "IMAGE_PULL" // for another reason
	RegistryUnreachable Cause = "REGISTRY_UNREACHABLE"
	SecretMissing       Cause = "SECRET_MISSING"
	ConfigMapMissing    Cause = "CONFIG_MAP_MISSING"
	KeyMissing          Cause = "KEY_MISSING"
	ContainerConfig     Cause = "CONTAINER_CONFIG"
	ContainerCreate     Cause = "CONTAINER_CREATE"
	CrashLoop           Cause = "CRASH_LOOP"
	InitRunning         Cause = "INIT_CONTAINER_RUNNING"
	InitFailing         Cause = "INIT_CONTAINER_FAILING"
	RuntimeClass        Cause = "RUNTIME_CLASS"
	Sandbox             Cause = "SANDBOX" // its network, above all
	NodeRefuses         Cause = "NODE_REFUSES"
	NodeSilent          Cause = "NODE_SILENT"
	Starting            Cause = "STARTING"
	ContainerWaiting    Cause = "CONTAINER_WAITING" // for a reason that is not known here
)

// What the API server says to who makes pods.
const (
	Quota                 Cause = "QUOTA"
	LimitRange            Cause = "LIMIT_RANGE"
	PodSecurity           Cause = "POD_SECURITY"
	ServiceAccountMissing Cause = "SERVICE_ACCOUNT_MISSING"
	PriorityClassMissing  Cause = "PRIORITY_CLASS_MISSING"
	WebhookDenied         Cause = "WEBHOOK_DENIED"
	WebhookUnreachable    Cause = "WEBHOOK_UNREACHABLE"
	RightsMissing         Cause = "RIGHTS_MISSING"
	Refusal               Cause = "REFUSED" // for a reason that is not known here
)

// Gangs, jobs and workflows.
const (
	GangIncomplete  Cause = "GANG" // its pods have no room at once
	QueueFull       Cause = "QUEUE_FULL"
	QueueClosed     Cause = "QUEUE_CLOSED"
	QueueMissing    Cause = "QUEUE_MISSING"
	QueueTurn       Cause = "QUEUE_TURN"
	OperatorMissing Cause = "OPERATOR_MISSING"
	JobSuspended    Cause = "JOB_SUSPENDED"
	JobStarting     Cause = "JOB_STARTING"
	Lock            Cause = "LOCK"
	Parallelism     Cause = "PARALLELISM" // as many steps or runs are at work as may
	Suspended       Cause = "SUSPENDED"   // until a user resumes it
	StepStarting    Cause = "STEP_STARTING"
	Other           Cause = "OTHER" // the sentence says what
)

// Verdict is why something waits. The zero verdict says that it does not.
type Verdict struct {
	Cause   Cause
	Text    string    // one sentence
	Lacking []string  // the resources that are short
	Since   time.Time // zero: not known
}

func (v Verdict) cut() Verdict {
	v.Text = cut(v.Text)
	return v
}
