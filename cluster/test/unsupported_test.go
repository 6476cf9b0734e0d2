package test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The events of a pod name the fields of its description that the kubelet ignores.
func TestWhatIsNotCarriedOutIsTold(t *testing.T) {
	t.Parallel()
	c := shared(t)
	p := c.runPod(t, podOf("asks-much", "true", func(s *corev1.PodSpec) {
		s.HostUsers, s.RuntimeClassName = ptr(false), ptr("gvisor")
		s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
		s.SecurityContext = &corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: "s0"}}
		s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 65000}}
		s.Containers[0].SecurityContext = &corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}}
		mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, func(m *corev1.VolumeMount) {
			m.MountPropagation = ptr(corev1.MountPropagationHostToContainer)
		})(s)
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	for reason, text := range map[string]string{
		"UserNamespaceIgnored": "hostUsers: false", "RuntimeClassIgnored": "runtimeClassName gvisor", "PodLimitsIgnored": "limits of its containers",
		"SELinuxIgnored": "labels nothing", "HostPortIgnored": "hostPort 65000", "AppArmorIgnored": "Container main", "MountPropagationIgnored": "below /v",
	} {
		c.awaitEvent(t, p.Name, reason, text)
	}
}

// A pod that cannot be what it is without something that is not there is refused, with the reason.
func TestPodsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	c := shared(t)
	for name, w := range map[string]struct {
		change       func(*corev1.PodSpec)
		reason, text string
	}{
		"windows": {func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} }, "PodOSNotSupported", "doesn't match node OS"},
		"claims-devices": {func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr("any")}}
		}, "ResourceClaimsNotSupported", "ask for devices as resources"},
		"nfs": {mounted(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "none", Path: "/"}}), "FailedMount", "the embedded cluster supports only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.runPod(t, podOf(name, "true", w.change))
			require.Equal(t, corev1.PodFailed, p.Status.Phase)
			require.Contains(t, p.Status.Message, w.text)
			c.awaitEvent(t, name, w.reason, w.text)
		})
	}
	t.Run("localhost-seccomp", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("localhost-seccomp", "true", func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: ptr("mine.json")}}
		}))
		c.awaitEvent(t, "localhost-seccomp", "Failed", "seccomp profiles of type Localhost are not known")
	})
}

// The kubelet does not look at fields whose features are off: the apiserver takes them out, or refuses them.
func TestFieldsBehindGates(t *testing.T) {
	t.Parallel()
	c := shared(t)
	for name, change := range map[string]func(*corev1.PodSpec){
		"hostname-override": func(s *corev1.PodSpec) { s.HostnameOverride = ptr("other") },
		"restart-rules": func(s *corev1.PodSpec) {
			s.Containers[0].RestartPolicy = ptr(corev1.ContainerRestartPolicyNever)
			s.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
				Action: corev1.ContainerRestartRuleActionRestart, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
			}}
		},
		"stop-signal": func(s *corev1.PodSpec) {
			s.Containers[0].Lifecycle = &corev1.Lifecycle{StopSignal: ptr(corev1.SIGUSR1)}
		},
		"env-files": func(s *corev1.PodSpec) {
			mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(s)
			s.Containers[0].Env = []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "v", Path: "f", Key: "k"}}}}
		},
		"image-volume": mounted(corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "host"}}),
		"trust-bundle": mounted(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{Name: ptr("x"), Path: "x"}},
		}}}),
		"pod-certificate": mounted(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{PodCertificate: &corev1.PodCertificateProjection{SignerName: "a.example/b", KeyType: "ED25519", CredentialBundlePath: "x"}},
		}}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.kube.CoreV1().Pods(c.namespace).Create(t.Context(), podOf(name, "true", change), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				require.True(t, apierrors.IsInvalid(err), "%v", err)
				return
			}
			main := p.Spec.Containers[0]
			require.Nil(t, p.Spec.HostnameOverride)
			require.Empty(t, main.RestartPolicyRules)
			require.Nil(t, main.RestartPolicy)
			require.True(t, main.Lifecycle == nil || main.Lifecycle.StopSignal == nil)
			for _, e := range main.Env {
				require.True(t, e.ValueFrom == nil || e.ValueFrom.FileKeyRef == nil)
			}
			for _, v := range p.Spec.Volumes {
				require.Nil(t, v.Image)
				if v.Projected != nil {
					for _, s := range v.Projected.Sources {
						require.Nil(t, s.ClusterTrustBundle)
						require.Nil(t, s.PodCertificate)
					}
				}
			}
		})
	}
}
