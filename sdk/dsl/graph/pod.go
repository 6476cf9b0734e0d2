package graph

// Pair is a name and what it stands for. Lists of them are sorted by name.
type Pair struct {
	Name  string `json:"name"`
	Value Text   `json:"value"`
}

// Pod is what a step asks of the cluster besides running its container.
type Pod struct {
	Labels      []Pair `json:"labels,omitempty"`
	Annotations []Pair `json:"annotations,omitempty"`

	NodeSelector   []Pair       `json:"node_selector,omitempty"`
	Tolerations    []Toleration `json:"tolerations,omitempty"`
	Affinity       *Affinity    `json:"affinity,omitempty"`
	ServiceAccount Text         `json:"service_account,omitempty"`
	PriorityClass  Text         `json:"priority_class,omitempty"`
	Scheduler      Text         `json:"scheduler,omitempty"`

	Retry *Retry `json:"retry,omitempty"`
	// Timeout is a Go duration, such as 1h30m.
	Timeout Text   `json:"timeout,omitempty"`
	Cache   *Cache `json:"cache,omitempty"`

	Sidecars       []Sidecar `json:"sidecars,omitempty"`
	InitContainers []Sidecar `json:"init_containers,omitempty"`

	// Patch is JSON that is merged into the pod's specification.
	Patch Text `json:"patch,omitempty"`
}

// Sidecar is a container beside or before a step's own.
type Sidecar struct {
	Name      string    `json:"name"`
	Container Container `json:"container"`
	OwnMounts bool      `json:"own_mounts,omitempty"` // it does not see the volumes of the step's own container
}

// Toleration lets a pod onto nodes with a taint.
type Toleration struct {
	Key      string `json:"key,omitempty"` // empty: every taint
	Operator string `json:"operator"`      // Equal or Exists
	Value    Text   `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`  // empty: every effect
	Seconds  *int64 `json:"seconds,omitempty"` // nil: for ever
}

// Affinity says near what a pod runs. What is preferred has a weight.
type Affinity struct {
	Nodes       []NodeTerm `json:"nodes,omitempty"` // one of them must hold
	PreferNodes []NodeTerm `json:"prefer_nodes,omitempty"`
	Pods        []PodTerm  `json:"pods,omitempty"` // all of them must hold
	PreferPods  []PodTerm  `json:"prefer_pods,omitempty"`
	AvoidPods   []PodTerm  `json:"avoid_pods,omitempty"`
	ShunPods    []PodTerm  `json:"shun_pods,omitempty"` // avoid if possible
}

// NodeTerm describes nodes by their labels.
type NodeTerm struct {
	Weight int           `json:"weight,omitempty"`
	Labels []Requirement `json:"labels"`
}

// PodTerm describes places by the pods that run there.
type PodTerm struct {
	Weight   int           `json:"weight,omitempty"`
	Labels   []Requirement `json:"labels"`
	Topology string        `json:"topology"`
}

// Requirement is a question about a label.
type Requirement struct {
	Key      string `json:"key"`
	Operator string `json:"operator"` // In, NotIn, Exists, DoesNotExist, Gt, Lt
	Values   []Text `json:"values,omitempty"`
}

// Retry says when and how often a failed step is tried again.
type Retry struct {
	Limit  Text   `json:"limit"`
	Policy string `json:"policy,omitempty"`
	// Wait is the time before the first retry; each further one waits Factor times longer, at most MaxWait.
	Wait    Text   `json:"wait,omitempty"`
	Factor  int    `json:"factor,omitempty"`
	MaxWait Text   `json:"max_wait,omitempty"`
	MaxTime Text   `json:"max_time,omitempty"` // no retry begins after it
	When    string `json:"when,omitempty"`     // an expression of Argo's
}

// Cache says when the outputs of an earlier run of a step are good enough.
type Cache struct {
	Off    bool   `json:"off,omitempty"`
	Key    Text   `json:"key,omitempty"`     // empty: the server's own key
	MaxAge string `json:"max_age,omitempty"` // a Go duration; empty: any age
}

// Mount makes files of a volume visible in a container.
type Mount struct {
	Path     string `json:"path"`
	SubPath  Text   `json:"sub_path,omitempty"`
	ReadOnly bool   `json:"read_only,omitempty"`
	Volume   Volume `json:"volume"`
}

// Volume holds files: exactly one field, apart from Size, is set.
type Volume struct {
	Claim     Text   `json:"claim,omitempty"`
	RunClaim  string `json:"run_claim,omitempty"` // names one of the pipeline's Claims
	Secret    Text   `json:"secret,omitempty"`
	ConfigMap Text   `json:"config_map,omitempty"`
	HostPath  Text   `json:"host_path,omitempty"`
	// Scratch is an empty folder, on disk or in memory, of at most Size.
	Scratch string `json:"scratch,omitempty"` // disk or memory
	Size    string `json:"size,omitempty"`
}

// KeyRef is an entry of a secret or a config map.
type KeyRef struct {
	Name     string `json:"name"`
	Key      string `json:"key"`
	Optional bool   `json:"optional,omitempty"`
}

// EnvFrom makes every entry of a secret or a config map an environment variable.
type EnvFrom struct {
	Secret    string `json:"secret,omitempty"`
	ConfigMap string `json:"config_map,omitempty"`
}

// Settings are those of a whole pipeline.
type Settings struct {
	Parallelism      int      `json:"parallelism,omitempty"` // pods at a time
	Timeout          string   `json:"timeout,omitempty"`     // a Go duration
	TTL              *TTL     `json:"ttl,omitempty"`
	ServiceAccount   string   `json:"service_account,omitempty"`
	ImagePullSecrets []string `json:"image_pull_secrets,omitempty"`
	Claims           []Claim  `json:"claims,omitempty"`
	Labels           []Pair   `json:"labels,omitempty"`
	Annotations      []Pair   `json:"annotations,omitempty"`
	// Pasted has Kubernetes read $(NAME) and $$ in values that stand in commands and variables too.
	Pasted bool `json:"pasted,omitempty"`
	// Program is where in their image the steps with a Func find it; empty for a copy on this machine.
	Program string `json:"program,omitempty"`
}

// TTL says how long an ended run stays in the cluster, in Go durations; empty is for ever.
type TTL struct {
	Success string `json:"success,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// Claim is a volume that is made for a run and shared by its steps.
type Claim struct {
	Name         string `json:"name"`
	Size         string `json:"size"`
	StorageClass string `json:"storage_class,omitempty"`
	Mode         string `json:"mode"`
}
