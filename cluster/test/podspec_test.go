package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPodSpec runs a pod for each feature of a pod's description that shows in what the pod prints.
func TestPodSpec(t *testing.T) {
	t.Parallel()
	t.Run("shared cluster", func(t *testing.T) { shared(t).testPodSpec(t, os.Geteuid() == 0) })
	if os.Geteuid() != 0 {
		return
	}
	t.Run("ordinary user", func(t *testing.T) {
		c := upAs(t, nobody)
		c.testPodSpec(t, false)
		p := c.runPod(t, podOf("is-root", "id -u", func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr(int64(1000)), FSGroup: ptr(int64(2000))}
			mounted(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}})(s)
		}))
		require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
		require.Equal(t, "0\n", c.log(t, "is-root", "main"), "there is only one id to be had")
		c.awaitEvent(t, "is-root", "RunAsUserIgnored", "one user id only")
	})
}

// testPodSpec runs all cases; users says whether pods can have users other than root.
func (c *cluster) testPodSpec(t *testing.T, users bool) {
	c.givePodSpecObjects(t)
	t.Run("cases", func(t *testing.T) {
		for _, table := range [][]specCase{environmentCases(), volumeCases(t), securityCases(users), nameCases()} {
			for _, s := range table {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					p := c.runPod(t, podOf(strings.ReplaceAll(strings.ToLower(s.name), " ", "-"), s.script, s.change))
					require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
					require.Equal(t, s.want, c.log(t, p.Name, "main"))
				})
			}
		}
	})
}

type specCase struct {
	name   string
	script string
	change func(*corev1.PodSpec)
	want   string
}

func (c *cluster) givePodSpecObjects(t *testing.T) {
	t.Helper()
	core := c.kube.CoreV1()
	_, err := core.ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: map[string]string{"a": "A", "b": "B", "c-d": "CD"}, BinaryData: map[string][]byte{"bin": {0xff}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = core.Secrets(c.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"key": "K"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = core.Services(c.namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "my-web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"a": "b"}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "the kubelet knows the Service", func(context.Context) bool {
		return c.said(t, podOf("knows-service", "echo ${MY_WEB_SERVICE_PORT-not yet}")) == "80\n"
	})
}

func field(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func amount(name, divisor string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: name, Divisor: resource.MustParse(divisor)}}
}

func environmentCases() []specCase {
	named := corev1.LocalObjectReference{Name: "cm"}
	gone := corev1.LocalObjectReference{Name: "gone"}
	env := func(vars ...corev1.EnvVar) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Containers[0].Env = vars }
	}
	return []specCase{
		{
			"variables refer to earlier ones", `echo "$A $B $C $D"`,
			env(corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "B", Value: "$(A)2"}, corev1.EnvVar{Name: "C", Value: "$(D)"}, corev1.EnvVar{Name: "D", Value: "$$(A)"}),
			"1 12 $(D) $(A)\n",
		},
		{
			"fieldRef", `echo $NAME $NODE $SA; test "$IP" = "$IPS" && hostname -i | grep -cw $IP; test -n "$HOST" && echo host; test ${#ID} = 36 && echo uid`,
			env(
				corev1.EnvVar{Name: "NAME", ValueFrom: field("metadata.name")}, corev1.EnvVar{Name: "ID", ValueFrom: field("metadata.uid")},
				corev1.EnvVar{Name: "NODE", ValueFrom: field("spec.nodeName")}, corev1.EnvVar{Name: "SA", ValueFrom: field("spec.serviceAccountName")},
				corev1.EnvVar{Name: "IP", ValueFrom: field("status.podIP")}, corev1.EnvVar{Name: "IPS", ValueFrom: field("status.podIPs")},
				corev1.EnvVar{Name: "HOST", ValueFrom: field("status.hostIP")},
			),
			"fieldref local default\n1\nhost\nuid\n",
		},
		{
			"resourceFieldRef", `echo $LIMIT $REQUEST $MEMORY $UNSET; test $NODE -ge 1 && echo node`,
			func(s *corev1.PodSpec) {
				s.Containers[0].Resources = corev1.ResourceRequirements{
					Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")},
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("10Mi")},
				}
				s.Containers[0].Env = []corev1.EnvVar{
					{Name: "LIMIT", ValueFrom: amount("limits.cpu", "1")},
					{Name: "REQUEST", ValueFrom: amount("requests.cpu", "1m")},
					{Name: "MEMORY", ValueFrom: amount("requests.memory", "1Mi")},
					{Name: "UNSET", ValueFrom: amount("requests.ephemeral-storage", "1")},
					{Name: "NODE", ValueFrom: amount("limits.memory", "1Gi")},
				}
			},
			"2 100 10 0\nnode\n",
		},
		{
			"envFrom", `echo $P_a $P_b $key; tr '\\0' '\\n' < /proc/1/environ | grep -c '^P_c-d=CD$'; echo "optional ${NONE-unset}"`,
			func(s *corev1.PodSpec) {
				s.Containers[0].EnvFrom = []corev1.EnvFromSource{
					{Prefix: "P_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named}},
					{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}},
					{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: gone, Optional: ptr(true)}},
				}
				s.Containers[0].Env = []corev1.EnvVar{{Name: "NONE", ValueFrom: &corev1.EnvVarSource{
					ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named, Key: "none", Optional: ptr(true)},
				}}}
			},
			"A B K\n1\noptional unset\n",
		},
		{
			"service variables", `echo $MY_WEB_SERVICE_PORT $MY_WEB_SERVICE_PORT_HTTP $KUBERNETES_SERVICE_PORT; test "$MY_WEB_PORT_80_TCP" = "tcp://$MY_WEB_SERVICE_HOST:80" && echo link`,
			func(*corev1.PodSpec) {}, "80 80 443\nlink\n",
		},
		{
			"no service variables", `echo "${MY_WEB_SERVICE_PORT-none} $KUBERNETES_SERVICE_PORT"`,
			func(s *corev1.PodSpec) { s.EnableServiceLinks = ptr(false) }, "none 443\n",
		},
		{
			"command and args expand", "", func(s *corev1.PodSpec) {
				s.Containers[0].Command, s.Containers[0].Args = []string{"echo", "$(X)"}, []string{"$$(X)", "$(NO)"}
				s.Containers[0].Env = []corev1.EnvVar{{Name: "X", Value: "x"}}
			}, "x $(X) $(NO)\n",
		},
	}
}

// mounted adds a volume to a pod at /v.
func mounted(v corev1.VolumeSource, change ...func(*corev1.VolumeMount)) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Volumes = append(s.Volumes, corev1.Volume{Name: "v", VolumeSource: v})
		m := corev1.VolumeMount{Name: "v", MountPath: "/v"}
		for _, f := range change {
			f(&m)
		}
		s.Containers[0].VolumeMounts = append(s.Containers[0].VolumeMounts, m)
	}
}

func volumeCases(t *testing.T) []specCase {
	host, err := os.MkdirTemp(hostFolder, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(host)) })
	require.NoError(t, os.WriteFile(filepath.Join(host, "f"), []byte("of the host\n"), 0o644))
	for _, path := range []string{host, filepath.Join(host, "f")} {
		require.NoError(t, os.Chmod(path, 0o777)) // for clusters of other users
	}
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	named := corev1.LocalObjectReference{Name: "cm"}
	sub := func(path string) func(*corev1.VolumeMount) { return func(m *corev1.VolumeMount) { m.SubPath = path } }
	return []specCase{
		{"emptyDir", "stat -c %a /v; echo x > /v/f && cat /v/f", mounted(empty), "777\nx\n"},
		{
			"emptyDir in memory", "df --output=fstype,size /v | tail -1 | tr -s ' '; head -c 2M /dev/zero > /v/f 2>/dev/null || echo full",
			mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr(resource.MustParse("1Mi"))}}), "tmpfs 1024\nfull\n",
		},
		{
			"configMap", "cd /v; ls; cat a; stat -Lc %a a; od -An -tx1 bin; readlink a; touch x 2>/dev/null || echo read-only",
			mounted(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named}}), "a\nb\nbin\nc-d\nA644\n ff\n..data/a\nread-only\n",
		},
		{
			"configMap with items and modes", "cd /v; find . -name '..*' -prune -o -type l -print | sort; cat sub/one; stat -Lc %a sub/one sub/two; stat -Lc %a three",
			mounted(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named, DefaultMode: ptr(int32(0o440)), Items: []corev1.KeyToPath{
				{Key: "a", Path: "sub/one", Mode: ptr(int32(0o751))}, {Key: "b", Path: "sub/two"}, {Key: "b", Path: "three"},
			}}}), "./sub\n./three\nA751\n440\n440\n",
		},
		{
			"optional configMap and secret", "ls /v | wc -l",
			mounted(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}, Optional: ptr(true)}}), "0\n",
		},
		{
			"projected", "cd /v; ls; cat all/a key name; echo; cut -d. -f2 token | tr -- -_ +/ | base64 -d 2>/dev/null | grep -o '\"aud\":\\[\"other\"\\]'",
			mounted(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named, Items: []corev1.KeyToPath{{Key: "a", Path: "all/a"}}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}},
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "other", ExpirationSeconds: ptr(int64(1000))}},
			}}}), "all\nkey\nname\ntoken\nAKprojected\n\"aud\":[\"other\"]\n",
		},
		{
			"downwardAPI", "cat /v/name; echo; cat /v/cpu; echo",
			mounted(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
				{Path: "cpu", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "main", Resource: "requests.cpu"}},
			}}}), "downwardapi\n0\n",
		},
		{"hostPath", "cat /v/f; echo changed > /v/f", mounted(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: host}}), "of the host\n"},
		{
			"hostPath read-only", "( echo x > /v/g ) 2>/dev/null || echo read-only",
			mounted(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: host, Type: ptr(corev1.HostPathDirectory)}}, func(m *corev1.VolumeMount) {
				m.ReadOnly, m.MountPropagation = true, ptr(corev1.MountPropagationHostToContainer)
			}), "read-only\n",
		},
		{"subPath", "touch /v/f; ls /v", mounted(empty, sub("deep/inside")), "f\n"},
		{"subPath of a file", "cat /v", mounted(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named}}, sub("a")), "A"},
		{
			"subPathExpr", "touch /v/f; ls /all", func(s *corev1.PodSpec) {
				mounted(empty, func(m *corev1.VolumeMount) { m.SubPathExpr = "of-$(WHO)" })(s)
				s.Containers[0].Env = []corev1.EnvVar{{Name: "WHO", ValueFrom: field("metadata.name")}}
				s.Containers[0].VolumeMounts = append(s.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "v", MountPath: "/all"})
			}, "of-subpathexpr\n",
		},
	}
}

func securityCases(users bool) []specCase {
	own := func(sc corev1.SecurityContext) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Containers[0].SecurityContext = &sc }
	}
	var cases []specCase
	if users { // one user id allows no other user
		group := func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{FSGroup: ptr(int64(3000)), RunAsUser: ptr(int64(1500)), SupplementalGroups: []int64{4000}, RunAsNonRoot: ptr(true)}
			mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(s)
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: ptr(int32(0o400))}}})
			s.Containers[0].VolumeMounts = append(s.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "s", MountPath: "/s"})
		}
		cases = []specCase{
			{"runAsUser and runAsGroup", "id -u; id -g; echo out > /dev/stdout", own(corev1.SecurityContext{RunAsUser: ptr(int64(1500)), RunAsGroup: ptr(int64(1600))}), "1500\n1600\nout\n"},
			{
				"a user of the machine", "id -un; id -gn; echo $HOME",
				own(corev1.SecurityContext{RunAsUser: ptr(int64(2))}), "bin\nbin\n/bin\n",
			},
			{
				"fsGroup and groups", "id -G; stat -c '%g %a' /v; touch /v/f && stat -c %g /v/f; cat /s/key; stat -Lc '%g %a' /s/key; stat -Lc '%u %a' /var/run/secrets/kubernetes.io/serviceaccount/token; cat /var/run/secrets/kubernetes.io/serviceaccount/token >/dev/null && echo token",
				group, "0 3000 4000\n3000 2777\n3000\nK3000 440\n1500 640\ntoken\n",
			},
		}
	}
	return append(
		cases,
		specCase{
			"readOnlyRootFilesystem", "for d in / /etc /usr /tmp /run /v /dev/shm; do ( echo x > $d/x ) 2>/dev/null && echo $d; done; true",
			func(s *corev1.PodSpec) {
				own(corev1.SecurityContext{ReadOnlyRootFilesystem: ptr(true)})(s)
				mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(s)
			}, "/v\n/dev/shm\n",
		},
		specCase{
			"capabilities and escalation", "grep -E 'CapBnd|NoNewPrivs' /proc/self/status | tr -d '\\t'",
			own(corev1.SecurityContext{
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_BIND_SERVICE"}},
				AllowPrivilegeEscalation: ptr(false), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			}), "CapBnd:0000000000000400\nNoNewPrivs:1\n",
		},
		specCase{
			"privileged", "mount -t tmpfs none /mnt && echo mounted; grep -qE 'CapBnd:.*a[08]0425fb' /proc/self/status || echo all",
			own(corev1.SecurityContext{Privileged: ptr(true)}), "mounted\nall\n",
		},
		specCase{"a terminal", "echo $TERM", func(s *corev1.PodSpec) { s.Containers[0].TTY = true }, "xterm\r\n"},
		specCase{
			"sysctls", "cat /proc/sys/net/ipv4/ip_local_port_range /proc/sys/kernel/shm_rmid_forced | tr '\\t' ' '",
			func(s *corev1.PodSpec) {
				s.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{
					{Name: "net.ipv4.ip_local_port_range", Value: "20000 30000"}, {Name: "kernel.shm_rmid_forced", Value: "1"},
				}}
			}, "20000 30000\n1\n",
		},
	)
}

func nameCases() []specCase {
	return []specCase{
		{"hostAliases", "head -n 1 /etc/hosts; grep -w 192.0.2.7 /etc/hosts; getent hosts alias.example | tr -s ' '", func(s *corev1.PodSpec) {
			s.HostAliases = []corev1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"alias", "alias.example"}}}
		}, "# Kubernetes-managed hosts file.\n192.0.2.7\talias\talias.example\n192.0.2.7 alias alias.example\n"},
		{"hostname", "hostname; cat /etc/hostname", func(s *corev1.PodSpec) { s.Hostname, s.Subdomain = "mine", "sub" }, "mine\nmine\n"},
		{"setHostnameAsFQDN", "hostname | cut -d. -f1,2,4-", func(s *corev1.PodSpec) {
			s.Hostname, s.Subdomain, s.SetHostnameAsFQDN = "mine", "sub", ptr(true)
		}, "mine.sub.svc.cluster.local\n"},
		{"dnsPolicy None", "cat /etc/resolv.conf", func(s *corev1.PodSpec) {
			s.DNSPolicy = corev1.DNSNone
			s.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.1"}, Searches: []string{"a.example"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr("3")}}}
		}, "nameserver 192.0.2.1\nsearch a.example\noptions ndots:3\n"},
		{"dnsPolicy Default", "grep -c svc.cluster.local /etc/resolv.conf; grep -c nameserver /etc/resolv.conf", func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSDefault }, "0\n1\n"},
		{
			"shared processes", `until pgrep -f '^sleep 98[7]'; do sleep 0.02; done >/dev/null; ps -o args= -p 1; ls -A /proc/1/root 2>/dev/null
pkill -f '^sleep 98[7]'; until test -e /v/over; do sleep 0.02; done; while pgrep -f '^sleep 98[6]' >/dev/null; do sleep 0.02; done; echo nothing left`,
			func(s *corev1.PodSpec) {
				s.ShareProcessNamespace = ptr(true)
				mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(s)
				s.Containers = append(s.Containers, corev1.Container{
					Name: "other", Image: "host", Command: []string{"sh", "-c", "sleep 986 & sleep 987; touch /v/over"}, VolumeMounts: s.Containers[0].VolumeMounts,
				})
			}, "argosy-podinit reap\nnothing left\n",
		},
	}
}

// claim makes a claim and returns a volume of it.
func (c *cluster) claim(t *testing.T, name string) corev1.VolumeSource {
	t.Helper()
	_, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

// awaitGone waits until a deleted pod's object is gone.
func (c *cluster) awaitGone(t *testing.T, pod string) {
	t.Helper()
	eventually(t, pod+" is gone", func(ctx context.Context) bool {
		_, err := c.kube.CoreV1().Pods(c.namespace).Get(ctx, pod, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// awaitEvent waits until an event of the pod has a reason and a text.
func (c *cluster) awaitEvent(t *testing.T, pod, reason, text string) {
	t.Helper()
	var seen []string
	defer func() {
		if t.Failed() {
			t.Logf("events of %s: %q", pod, seen)
		}
	}()
	eventually(t, fmt.Sprintf("%s has an event %s with %q", pod, reason, text), func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
		require.NoError(t, err)
		seen = nil
		for _, e := range events.Items {
			seen = append(seen, e.Reason+": "+e.Message)
		}
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == reason && strings.Contains(e.Message, text) })
	})
}
