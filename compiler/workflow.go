package compiler

// The part of Argo's Workflow that pipelines need, in the order in which it is written. The names are Argo's.

type workflow struct {
	APIVersion string       `yaml:"apiVersion"`
	Kind       string       `yaml:"kind"`
	Metadata   metadata     `yaml:"metadata"`
	Spec       workflowSpec `yaml:"spec"`
}

type metadata struct {
	GenerateName string          `yaml:"generateName"`
	Labels       map[string]text `yaml:"labels,omitempty"`
	Annotations  map[string]text `yaml:"annotations"`
}

type workflowSpec struct {
	Entrypoint            string          `yaml:"entrypoint"`
	OnExit                string          `yaml:"onExit,omitempty"`
	ServiceAccountName    string          `yaml:"serviceAccountName"`
	ActiveDeadlineSeconds int64           `yaml:"activeDeadlineSeconds,omitempty"`
	Parallelism           int             `yaml:"parallelism,omitempty"`
	TTLStrategy           *ttlStrategy    `yaml:"ttlStrategy,omitempty"`
	ImagePullSecrets      []named         `yaml:"imagePullSecrets,omitempty"`
	VolumeClaimTemplates  []claimTemplate `yaml:"volumeClaimTemplates,omitempty"`
	Arguments             parameters      `yaml:"arguments,omitempty"`
	Templates             []template      `yaml:"templates"`
}

type ttlStrategy struct {
	Success *int64 `yaml:"secondsAfterSuccess,omitempty"`
	Failure *int64 `yaml:"secondsAfterFailure,omitempty"`
}

// text is a string from the user, of whatever characters.
type text string

// parameters is the shape of inputs, outputs and arguments.
type parameters struct {
	Parameters []parameter `yaml:"parameters,omitempty"`
	Artifacts  []artifact  `yaml:"artifacts,omitempty"`
}

type parameter struct {
	Name        string     `yaml:"name"`
	Description text       `yaml:"description,omitempty"`
	Value       *text      `yaml:"value,omitempty"`
	Enum        []text     `yaml:"enum,omitempty"`
	ValueFrom   *valueFrom `yaml:"valueFrom,omitempty"`
}

type valueFrom struct {
	Path       text   `yaml:"path,omitempty"`
	JSONPath   text   `yaml:"jsonPath,omitempty"`
	Expression string `yaml:"expression,omitempty"`
	Parameter  string `yaml:"parameter,omitempty"`
	Default    *text  `yaml:"default,omitempty"`
}

type artifact struct {
	Name           string    `yaml:"name"`
	Path           text      `yaml:"path,omitempty"`
	From           text      `yaml:"from,omitempty"`
	FromExpression text      `yaml:"fromExpression,omitempty"`
	Optional       bool      `yaml:"optional,omitempty"`
	S3             *s3File   `yaml:"s3,omitempty"`
	HTTP           *httpFile `yaml:"http,omitempty"`
	Git            *gitFile  `yaml:"git,omitempty"`
	Raw            *rawFile  `yaml:"raw,omitempty"`
	Archive        *archive  `yaml:"archive,omitempty"`
}

type s3File struct {
	Key text `yaml:"key"`
}

type httpFile struct {
	URL text `yaml:"url"`
}

type gitFile struct {
	Repo     text `yaml:"repo"`
	Revision text `yaml:"revision,omitempty"`
}

type rawFile struct {
	Data text `yaml:"data"`
}

type archive struct {
	None *struct{} `yaml:"none,omitempty"`
}

type script struct {
	container `yaml:",inline"`
	Source    text `yaml:"source"`
}

type template struct {
	Name     string      `yaml:"name"`
	Metadata podMetadata `yaml:"metadata,omitempty"`
	Inputs   parameters  `yaml:"inputs,omitempty"`
	Outputs  parameters  `yaml:"outputs,omitempty"`

	NodeSelector          map[string]text `yaml:"nodeSelector,omitempty"`
	Affinity              *affinity       `yaml:"affinity,omitempty"`
	Tolerations           []toleration    `yaml:"tolerations,omitempty"`
	ServiceAccountName    text            `yaml:"serviceAccountName,omitempty"`
	PriorityClassName     text            `yaml:"priorityClassName,omitempty"`
	SchedulerName         text            `yaml:"schedulerName,omitempty"`
	ActiveDeadlineSeconds any             `yaml:"activeDeadlineSeconds,omitempty"`
	RetryStrategy         *retryStrategy  `yaml:"retryStrategy,omitempty"`
	Volumes               []volume        `yaml:"volumes,omitempty"`
	InitContainers        []userContainer `yaml:"initContainers,omitempty"`

	Container *container `yaml:"container,omitempty"`
	Script    *script    `yaml:"script,omitempty"`
	Resource  *resource  `yaml:"resource,omitempty"`

	Sidecars     []userContainer `yaml:"sidecars,omitempty"`
	PodSpecPatch text            `yaml:"podSpecPatch,omitempty"`
	DAG          *dag            `yaml:"dag,omitempty"`
}

// resource is what a step does to an object of Kubernetes.
type resource struct {
	Action           string `yaml:"action"`
	MergeStrategy    string `yaml:"mergeStrategy,omitempty"`
	Owned            bool   `yaml:"setOwnerReference,omitempty"`
	SuccessCondition text   `yaml:"successCondition,omitempty"`
	FailureCondition text   `yaml:"failureCondition,omitempty"`
	Flags            []text `yaml:"flags,omitempty"`
	Manifest         text   `yaml:"manifest"`
}

type podMetadata struct {
	Labels      map[string]text `yaml:"labels,omitempty"`
	Annotations map[string]text `yaml:"annotations,omitempty"`
}

type retryStrategy struct {
	Limit       text     `yaml:"limit"`
	RetryPolicy string   `yaml:"retryPolicy,omitempty"`
	Backoff     *backoff `yaml:"backoff,omitempty"`
	Expression  text     `yaml:"expression,omitempty"`
}

type backoff struct {
	Duration    text `yaml:"duration"`
	Factor      int  `yaml:"factor"`
	MaxDuration text `yaml:"maxDuration,omitempty"`
	Cap         text `yaml:"cap,omitempty"`
}

type container struct {
	Image           text          `yaml:"image"`
	ImagePullPolicy string        `yaml:"imagePullPolicy,omitempty"`
	Command         []text        `yaml:"command,omitempty"`
	Args            []text        `yaml:"args,omitempty"`
	WorkingDir      text          `yaml:"workingDir,omitempty"`
	Env             []envVar      `yaml:"env,omitempty"`
	EnvFrom         []envFrom     `yaml:"envFrom,omitempty"`
	Resources       resources     `yaml:"resources,omitempty"`
	VolumeMounts    []volumeMount `yaml:"volumeMounts,omitempty"`
}

// userContainer is a container beside a step's own.
type userContainer struct {
	Name               string `yaml:"name"`
	container          `yaml:",inline"`
	MirrorVolumeMounts bool `yaml:"mirrorVolumeMounts"`
}

type envVar struct {
	Name      string     `yaml:"name"`
	Value     text       `yaml:"value,omitempty"`
	ValueFrom *envSource `yaml:"valueFrom,omitempty"`
}

type dag struct {
	Tasks []task `yaml:"tasks"`
}

type task struct {
	Name         string     `yaml:"name"`
	Template     string     `yaml:"template"`
	Dependencies []string   `yaml:"dependencies,omitempty"`
	When         text       `yaml:"when,omitempty"`
	WithItems    []any      `yaml:"withItems,omitempty"`
	WithParam    text       `yaml:"withParam,omitempty"`
	Arguments    parameters `yaml:"arguments,omitempty"`
}
