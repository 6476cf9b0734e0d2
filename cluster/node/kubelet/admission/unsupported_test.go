package admission

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// The tables say which component handles each field of a pod's spec. Each field of each type in the spec is in one of these tables or in
// unsupportedFields, so that none is overlooked when Kubernetes adds one.
var (
	// heeded are carried out by the kubelet.
	heeded = map[string]string{
		"PodSpec": "Volumes InitContainers Containers EphemeralContainers RestartPolicy TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy ServiceAccountName " +
			"NodeName ShareProcessNamespace SecurityContext ImagePullSecrets Hostname Subdomain HostAliases DNSConfig ReadinessGates EnableServiceLinks " +
			"Overhead SetHostnameAsFQDN OS ResourceClaims",
		"Container": "Name Image Command Args WorkingDir Ports EnvFrom Env Resources RestartPolicy VolumeMounts VolumeDevices LivenessProbe ReadinessProbe " +
			"StartupProbe Lifecycle TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext Stdin StdinOnce TTY",
		"EphemeralContainer": "EphemeralContainerCommon TargetContainerName",
		"EphemeralContainerCommon": "Name Image Command Args WorkingDir EnvFrom Env VolumeMounts TerminationMessagePath TerminationMessagePolicy ImagePullPolicy " +
			"SecurityContext Stdin StdinOnce TTY",
		"PodSecurityContext": "RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup Sysctls FSGroupChangePolicy SeccompProfile AppArmorProfile",
		"SecurityContext":    "Capabilities Privileged RunAsUser RunAsGroup RunAsNonRoot ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile",
		"Capabilities":       "Add Drop", "Sysctl": "Name Value",
		"SeccompProfile": "Type LocalhostProfile", "AppArmorProfile": "Type LocalhostProfile", // Localhost is refused
		"ResourceRequirements": "Limits Requests",
		"ContainerPort":        "Name ContainerPort Protocol",
		"EnvVar":               "Name Value ValueFrom", "EnvVarSource": "FieldRef ResourceFieldRef ConfigMapKeyRef SecretKeyRef",
		"EnvFromSource": "Prefix ConfigMapRef SecretRef", "ConfigMapEnvSource": "LocalObjectReference Optional", "SecretEnvSource": "LocalObjectReference Optional",
		"ConfigMapKeySelector": "LocalObjectReference Key Optional", "SecretKeySelector": "LocalObjectReference Key Optional",
		"ObjectFieldSelector": "FieldPath", "ResourceFieldSelector": "ContainerName Resource Divisor", "LocalObjectReference": "Name",
		"VolumeMount": "Name ReadOnly RecursiveReadOnly MountPath SubPath SubPathExpr", "VolumeDevice": "Name DevicePath",
		"Probe":        "ProbeHandler InitialDelaySeconds TimeoutSeconds PeriodSeconds SuccessThreshold FailureThreshold TerminationGracePeriodSeconds",
		"ProbeHandler": "Exec HTTPGet TCPSocket GRPC", "GRPCAction": "Port Service", "ExecAction": "Command",
		"HTTPGetAction": "Path Port Host Scheme HTTPHeaders", "HTTPHeader": "Name Value", "TCPSocketAction": "Port Host", "SleepAction": "Seconds",
		"Lifecycle": "PostStart PreStop", "LifecycleHandler": "Exec HTTPGet TCPSocket Sleep", // TCPSocket fails, as in Kubernetes
		"Volume": "Name VolumeSource", "VolumeSource": "HostPath EmptyDir Secret PersistentVolumeClaim DownwardAPI ConfigMap Projected Ephemeral",
		"HostPathVolumeSource": "Path Type", "EmptyDirVolumeSource": "Medium SizeLimit", "SecretVolumeSource": "SecretName Items DefaultMode Optional",
		"ConfigMapVolumeSource": "LocalObjectReference Items DefaultMode Optional", "KeyToPath": "Key Path Mode",
		"PersistentVolumeClaimVolumeSource": "ClaimName ReadOnly", "DownwardAPIVolumeSource": "Items DefaultMode",
		"DownwardAPIVolumeFile": "Path FieldRef ResourceFieldRef Mode", "ProjectedVolumeSource": "Sources DefaultMode",
		"VolumeProjection": "Secret DownwardAPI ConfigMap ServiceAccountToken ClusterTrustBundle PodCertificate", // the last two are refused
		"SecretProjection": "LocalObjectReference Items Optional", "ConfigMapProjection": "LocalObjectReference Items Optional",
		"DownwardAPIProjection": "Items", "ServiceAccountTokenProjection": "Audience ExpirationSeconds Path",
		"HostAlias": "IP Hostnames", "PodDNSConfig": "Nameservers Searches Options", "PodDNSConfigOption": "Name Value", "PodReadinessGate": "ConditionType", "PodOS": "Name",
	}
	// elsewhere are handled by others: the apiserver, the scheduler, controllers.
	elsewhere = map[string]string{
		"PodSpec": "NodeSelector DeprecatedServiceAccount AutomountServiceAccountToken Affinity SchedulerName Tolerations PriorityClassName Priority " +
			"PreemptionPolicy TopologySpreadConstraints SchedulingGates",
		"EphemeralVolumeSource": "VolumeClaimTemplate",
		"ObjectFieldSelector":   "APIVersion",
	}
	// gated are removed or refused by the apiserver, where the feature is not enabled by default; TestFieldsBehindGates checks it.
	gated = map[string]string{
		"PodSpec": "HostnameOverride", "Container": "RestartPolicyRules", "Lifecycle": "StopSignal", "EnvVarSource": "FileKeyRef", "VolumeSource": "Image",
	}
	// ofNobody change nothing on Linux on any cluster, or are refused by the apiserver.
	ofNobody = map[string]string{
		"PodSecurityContext": "WindowsOptions SELinuxChangePolicy", "SecurityContext": "WindowsOptions",
		"Container":            "ResizePolicy", // a running container is not resized, see seeChanges
		"ResourceRequirements": "Claims",       // of resource claims, with which a pod is refused
		"ContainerPort":        "HostIP",       // of a hostPort
		// Ephemeral containers must not have them.
		"EphemeralContainerCommon": "Ports Resources ResizePolicy RestartPolicy RestartPolicyRules VolumeDevices LivenessProbe ReadinessProbe StartupProbe Lifecycle",
		// Kinds of volumes with which a pod is refused, see mountVolume.
		"VolumeSource": "GCEPersistentDisk AWSElasticBlockStore GitRepo NFS ISCSI Glusterfs RBD FlexVolume Cinder CephFS Flocker FC AzureFile VsphereVolume Quobyte " +
			"AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO StorageOS CSI",
	}
)

// leaves are types whose fields the test does not list: each is handled as a whole where it is used.
var leaves = []string{
	"Affinity", "Toleration", "TopologySpreadConstraint", "PodSchedulingGate", "PodResourceClaim", "PersistentVolumeClaimTemplate", "ContainerRestartRule",
	"ContainerResizePolicy", "SELinuxOptions", "WindowsSecurityContextOptions", "FileKeySelector", "ClusterTrustBundleProjection", "PodCertificateProjection", "ResourceClaim",
}

func TestNoFieldOfAPodIsOverlooked(t *testing.T) {
	t.Parallel()
	known := map[string]int{}
	for _, table := range []map[string]string{heeded, elsewhere, gated, ofNobody} {
		for kind, fields := range table {
			for _, f := range strings.Fields(fields) {
				known[kind+"."+f]++
			}
		}
	}
	for _, u := range unsupportedFields {
		known[u.field]++
	}
	refused := strings.Fields(ofNobody["VolumeSource"] + " " + gated["VolumeSource"])
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(kind reflect.Type) {
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice || kind.Kind() == reflect.Map {
			kind = kind.Elem()
		}
		if kind.Kind() != reflect.Struct || kind.PkgPath() != reflect.TypeFor[corev1.Pod]().PkgPath() || seen[kind] || slices.Contains(leaves, kind.Name()) {
			return
		}
		seen[kind] = true
		for i := range kind.NumField() {
			f := kind.Field(i)
			name := kind.Name() + "." + f.Name
			if known[name] != 1 {
				t.Errorf("%s is in %d of the tables of a pod's fields: it must be in one", name, known[name])
			}
			delete(known, name)
			if kind != reflect.TypeFor[corev1.VolumeSource]() || !slices.Contains(refused, f.Name) {
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[corev1.PodSpec]())
	require.Empty(t, known, "there are no such fields")
}

// A pod gets a warning for each field that is not carried out, and none for other fields.
func TestWarnings(t *testing.T) {
	t.Parallel()
	told := func(change func(*corev1.Pod)) []string {
		obj := &corev1.Pod{}
		obj.Spec.Containers = []corev1.Container{{
			Name: "c", Ports: []corev1.ContainerPort{{ContainerPort: 1}}, VolumeMounts: []corev1.VolumeMount{{MountPath: "/v", MountPropagation: new(corev1.MountPropagationMode)}},
			SecurityContext: &corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}},
		}}
		*obj.Spec.Containers[0].VolumeMounts[0].MountPropagation = corev1.MountPropagationNone
		change(obj)
		var reasons []string
		for _, w := range Warnings(obj) {
			reasons = append(reasons, w.Reason)
		}
		return reasons
	}
	require.Empty(t, told(func(*corev1.Pod) {}))
	no := false
	uses := map[string]func(*corev1.Pod){
		"PodSpec.HostPID":          func(o *corev1.Pod) { o.Spec.HostPID = true },
		"PodSpec.HostIPC":          func(o *corev1.Pod) { o.Spec.HostIPC = true },
		"PodSpec.HostNetwork":      func(o *corev1.Pod) { o.Spec.HostNetwork = true },
		"PodSpec.HostUsers":        func(o *corev1.Pod) { o.Spec.HostUsers = &no },
		"PodSpec.RuntimeClassName": func(o *corev1.Pod) { name := "gvisor"; o.Spec.RuntimeClassName = &name },
		"PodSpec.Resources": func(o *corev1.Pod) {
			o.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: {}}}
		},
		"PodSecurityContext.SELinuxOptions": func(o *corev1.Pod) {
			o.Spec.SecurityContext = &corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{}}
		},
		"SecurityContext.SELinuxOptions": func(o *corev1.Pod) { o.Spec.Containers[0].SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{} },
		"SecurityContext.AppArmorProfile": func(o *corev1.Pod) {
			o.Spec.Containers[0].SecurityContext.AppArmorProfile.Type = corev1.AppArmorProfileTypeRuntimeDefault
		},
		"ContainerPort.HostPort": func(o *corev1.Pod) { o.Spec.Containers[0].Ports[0].HostPort = 80 },
		"VolumeMount.MountPropagation": func(o *corev1.Pod) {
			*o.Spec.Containers[0].VolumeMounts[0].MountPropagation = corev1.MountPropagationBidirectional
		},
	}
	for _, u := range unsupportedFields {
		require.Contains(t, uses, u.field)
		require.Len(t, told(uses[u.field]), 1, u.field)
	}
}

func TestPodsOfOtherKindsAreRefused(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(*corev1.PodSpec){
		"PodOSNotSupported":          func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} },
		"ResourceClaimsNotSupported": func(s *corev1.PodSpec) { s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} },
		"BlockVolumesNotSupported": func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{{Name: "c", VolumeDevices: []corev1.VolumeDevice{{Name: "v", DevicePath: "/dev/v"}}}}
		},
	} {
		obj := &corev1.Pod{}
		change(&obj.Spec)
		var refused *podspec.RefusedError
		require.ErrorAs(t, Refuse(obj), &refused)
		require.Equal(t, reason, refused.Reason)
	}
	p := &corev1.Pod{}
	p.Spec.OS = &corev1.PodOS{Name: corev1.Linux}
	require.NoError(t, Refuse(p))
}
