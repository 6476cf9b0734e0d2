package compiler

// The part of Kubernetes' pods that steps may ask for, in the order in which it is written. The names are Kubernetes'.

type volume struct {
	Name      string          `yaml:"name"`
	Claim     *claimSource    `yaml:"persistentVolumeClaim,omitempty"`
	Secret    *secretSource   `yaml:"secret,omitempty"`
	ConfigMap *named          `yaml:"configMap,omitempty"`
	HostPath  *hostPathSource `yaml:"hostPath,omitempty"`
	EmptyDir  *emptyDirSource `yaml:"emptyDir,omitempty"`
}

type claimSource struct {
	ClaimName text `yaml:"claimName"`
}

type secretSource struct {
	SecretName text `yaml:"secretName"`
}

type hostPathSource struct {
	Path text `yaml:"path"`
}

type emptyDirSource struct {
	Medium    string `yaml:"medium,omitempty"`
	SizeLimit string `yaml:"sizeLimit,omitempty"`
}

type named struct {
	Name text `yaml:"name"`
}

type volumeMount struct {
	Name      string `yaml:"name"`
	MountPath text   `yaml:"mountPath"`
	SubPath   text   `yaml:"subPath,omitempty"`
	ReadOnly  bool   `yaml:"readOnly,omitempty"`
}

type resources struct {
	Requests map[string]text `yaml:"requests,omitempty"`
	Limits   map[string]text `yaml:"limits,omitempty"`
}

type envSource struct {
	FieldRef  *fieldRef `yaml:"fieldRef,omitempty"`
	Secret    *keyRef   `yaml:"secretKeyRef,omitempty"`
	ConfigMap *keyRef   `yaml:"configMapKeyRef,omitempty"`
}

type fieldRef struct {
	FieldPath text `yaml:"fieldPath"`
}

type keyRef struct {
	Name     string `yaml:"name"`
	Key      text   `yaml:"key"`
	Optional bool   `yaml:"optional,omitempty"`
}

type envFrom struct {
	Secret    *named `yaml:"secretRef,omitempty"`
	ConfigMap *named `yaml:"configMapRef,omitempty"`
}

type toleration struct {
	Key      string `yaml:"key,omitempty"`
	Operator string `yaml:"operator"`
	Value    text   `yaml:"value,omitempty"`
	Effect   string `yaml:"effect,omitempty"`
	Seconds  *int64 `yaml:"tolerationSeconds,omitempty"`
}

type affinity struct {
	Nodes *nodeAffinity `yaml:"nodeAffinity,omitempty"`
	Pods  *podAffinity  `yaml:"podAffinity,omitempty"`
	Avoid *podAffinity  `yaml:"podAntiAffinity,omitempty"`
}

type nodeAffinity struct {
	Required  *nodeSelector     `yaml:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	Preferred []weighedNodeTerm `yaml:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

type nodeSelector struct {
	Terms []labelTerm `yaml:"nodeSelectorTerms"`
}

type weighedNodeTerm struct {
	Weight     int       `yaml:"weight"`
	Preference labelTerm `yaml:"preference"`
}

type labelTerm struct {
	Expressions []requirement `yaml:"matchExpressions"`
}

type requirement struct {
	Key      string `yaml:"key"`
	Operator string `yaml:"operator"`
	Values   []text `yaml:"values,omitempty"`
}

type podAffinity struct {
	Required  []podTerm        `yaml:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	Preferred []weighedPodTerm `yaml:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

type podTerm struct {
	Labels   labelTerm `yaml:"labelSelector"`
	Topology string    `yaml:"topologyKey"`
}

type weighedPodTerm struct {
	Weight int     `yaml:"weight"`
	Term   podTerm `yaml:"podAffinityTerm"`
}

type claimTemplate struct {
	Metadata claimMetadata `yaml:"metadata"`
	Spec     claimSpec     `yaml:"spec"`
}

type claimMetadata struct {
	Name string `yaml:"name"`
}

type claimSpec struct {
	AccessModes  []string  `yaml:"accessModes"`
	StorageClass string    `yaml:"storageClassName,omitempty"`
	Resources    resources `yaml:"resources"`
}
