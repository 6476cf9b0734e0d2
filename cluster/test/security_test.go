package test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/cluster/control/pki"
)

// TestPodsAreConfined looks for ways out of a pod, as root of the machine and as ordinary users.
func TestPodsAreConfined(t *testing.T) {
	t.Parallel()
	t.Run("shared cluster", func(t *testing.T) { confinementTests(t, shared(t)) })
	asOrdinaryUsers(t, confinementTests)
}

func confinementTests(t *testing.T, c *cluster) {
	for name, test := range map[string]func(*testing.T){
		"the machine's kernel and files": c.testOutOfReach,
		"the cluster's keys":             c.testKeys,
		"other pods' processes":          c.testProcesses,
		"folders of the machine":         c.testHostPaths,
		"homes and secrets":              c.testSecrets,
		"a step of another user":         c.testStepOfAnotherUser,
		"links in outputs of workflows":  c.testPlantedOutputs,
		"refused descriptions":           c.testRefusedContexts,
		"privileged pods":                c.testPrivileged,
		"commands on their way in":       c.testCommands,
		"what the cluster's caller has":  c.testCallersFiles,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func (c *cluster) testOutOfReach(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("kept"), 0o666))
	p := c.runPod(t, podOf("reach", `
for f in /proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sys/net/ipv4/ip_forward /sys/kernel/uevent_helper /sys/power/state; do
  test -e $f && ( : > $f ) 2>/dev/null && echo "can write $f"; done
mknod /tmp/disk b 8 0 2>/dev/null && echo "can make devices"
mount -t tmpfs none /mnt 2>/dev/null && echo "can mount"
umount `+string(c.home)+` 2>/dev/null && echo "can unmount"
for f in `+victim+` /etc/argosy-victim /usr/argosy-victim; do mkdir -p $(dirname $f); echo changed > $f; done
unshare -Urm sh -c 'umount `+string(c.home)+` || umount -l /proc/sys' 2>/dev/null && echo "can unmount as another root"
echo checked`))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Equal(t, "checked\n", c.log(t, "reach", "main"))
	b, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "kept", string(b))
	require.NoFileExists(t, "/etc/argosy-victim")
}

// Privileged is what a pod is in the sandbox: of the machine it gets no more than others.
func (c *cluster) testPrivileged(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	require.NoError(t, err)
	mark := fmt.Sprintf("9000.%d%d", os.Getpid(), len(c.home))
	c.createPod(t, podOf("privileged", `
try() { "$@" >/dev/null 2>&1 && echo "can: $*"; }
write() { ( echo "$2" > $1 ) 2>/dev/null && echo "can write $1"; }
test $(id -u) = 0 || echo "is not root"
write /proc/sys/kernel/core_pattern '|/bin/false'
write /proc/sys/kernel/modprobe /bin/false
write /proc/sysrq-trigger h
write /proc/sys/vm/drop_caches 1
try dmesg
try head -c 1 /proc/kmsg
try head -c 1 /proc/kcore
mkdir -p /tmp/at
try mount -t debugfs none /tmp/at
try mount -t tracefs none /tmp/at
for c in memory pids cpu devices freezer; do
  mount -t cgroup -o $c none /tmp/at 2>/dev/null && { write /tmp/at/release_agent /bin/false; umount /tmp/at; }
  unshare -C sh -c "mount -t cgroup -o $c none /tmp/at && echo /bin/false > /tmp/at/release_agent" 2>/dev/null && echo "can name a release agent of $c in a namespace"
done
for a in /sys/fs/cgroup/*/release_agent; do test -e $a && write $a /bin/false; done
mount -o remount,rw,bind /sys 2>/dev/null
write /sys/kernel/uevent_helper /bin/false
for b in /sys/class/block/*/dev; do
  numbers=$(tr : ' ' < $b)
  try mknod /tmp/disk b $numbers && try mount /tmp/disk /tmp/at && ls /tmp/at
done
ls -d /proc/1/root`+string(c.home)+`/cluster 2>/dev/null
try chroot /proc/1/root test -e `+string(c.home)+`/cluster
echo checked; exec sleep `+mark, func(s *corev1.PodSpec) {
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr(true)}
	}))
	c.awaitLog(t, "privileged", "checked")
	require.Equal(t, "checked\n", c.log(t, "privileged", "main"))
	eventually(t, "root of the pod is not root outside", func(context.Context) bool {
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		require.NoError(t, err)
		for _, path := range all {
			if cmd, err := os.ReadFile(path); err != nil || string(cmd) != "sleep\x00"+mark+"\x00" {
				continue
			}
			status, err := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
			require.NoError(t, err)
			require.NotRegexp(t, `(?m)^([UG]id|Groups):.*\b0\b`, string(status))
			return true
		}
		return false
	})
	now, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	require.NoError(t, err)
	require.Equal(t, string(pattern), string(now))
}

func (c *cluster) testKeys(t *testing.T) {
	key, err := os.ReadFile(pki.File(c.home.PKI(), "ca", "key"))
	require.NoError(t, err)
	secret := strings.Split(string(key), "\n")[1]
	script := `
ls -A ` + string(c.home) + `
find / -xdev \( -name ca.key -o -name '*.kubeconfig' -o -name s3.json \) 2>/dev/null
grep -rlF '` + secret[:16] + `' ` + string(c.home) + ` /tmp /run /var/run /etc 2>/dev/null
for s in /proc/[0-9]*; do ls -d $s/root` + string(c.home) + `/cluster 2>/dev/null; grep -lF 'BEGIN EC PRIVATE' $s/environ 2>/dev/null; done
grep -c '@' /proc/net/unix; grep -F '` + string(c.home) + `' /proc/net/unix
echo checked`
	p := c.runPod(t, podOf("keys", script))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Equal(t, "shared\n0\nchecked\n", c.log(t, "keys", "main"))
	// On the sandbox's own network there is no more to be found.
	p = c.runPod(t, podOf("keys-host", `
grep -c '@' /proc/net/unix
for f in `+string(c.home)+`/cluster/run/*.sock; do ls -d $f 2>/dev/null; done; echo checked`, func(s *corev1.PodSpec) {
		s.HostNetwork = true
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	require.Equal(t, "0\nchecked\n", c.log(t, "keys-host", "main"))
	// Who may mount finds no more either.
	p = c.runPod(t, podOf("keys-admin", `umount `+string(c.home)+` || umount -l `+string(c.home)+script, func(s *corev1.PodSpec) {
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr(true)}
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	require.Contains(t, c.log(t, "keys-admin", "main"), "\nshared\n0\nchecked\n")
}

// Argo's own containers run as the pod says, and what a step makes is not for everybody to write.
func (c *cluster) testStepOfAnotherUser(t *testing.T) {
	wf := *c
	wf.namespace = "kubeflow"
	name := "another-user-" + fmt.Sprint(os.Getpid()) + "-" + c.namespace
	wf.create(t, workflows, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: `+name+`}
spec:
  entrypoint: main
  securityContext: {runAsUser: 1234, runAsNonRoot: true}
  templates:
    - name: main
      container:
        image: host
        command: [sh, -c, "touch /tmp/file; id -u > /tmp/v; stat -c %a /tmp/file >> /tmp/v"]
      outputs:
        parameters: [{name: v, valueFrom: {path: /tmp/v}}]
        artifacts: [{name: file, path: /tmp/file}]
`)
	var status any
	wf.await(t, workflows, name, func(o map[string]any) bool {
		phase, _, _ := unstructured.NestedString(o, "status", "phase")
		status = o["status"]
		return phase == "Succeeded" || phase == "Failed" || phase == "Error"
	})
	uid := "1234"
	if c.single(t) {
		uid = "0"
	}
	require.Contains(t, fmt.Sprint(status), "value:"+uid+"\n644")
}

// single says whether the cluster has one user id only.
func (c *cluster) single(t *testing.T) bool {
	p := c.runPod(t, podOf("ids", "awk '{ n += $3 } END { print n }' /proc/self/uid_map"))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	return c.log(t, "ids", "main") == "1\n"
}

func (c *cluster) testProcesses(t *testing.T) {
	c.createPod(t, podOf("victim", "echo up; sleep 1000"))
	c.awaitLog(t, "victim", "up")
	p := c.runPod(t, podOf("killer", `pgrep -f 'sleep 100[0]'; ls /proc | grep -c '^[0-9]'; trap '' TERM; kill -9 -1; ls /proc/1/ns >/dev/null && nsenter -t 1 -a true 2>/dev/null; echo checked`, func(s *corev1.PodSpec) {
		s.HostPID, s.HostIPC = true, true // not to be had, and said so
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Contains(t, c.log(t, "killer", "main"), "checked\n")
	require.NotRegexp(t, `^\d+\n\d+\n`, c.log(t, "killer", "main"), "it saw another pod's process")
	c.awaitEvent(t, "killer", "HostNamespacesIgnored", "processes of its own")
	code, out, _ := c.exec(t, "victim", nil, "echo", "alive")
	require.Zero(t, code)
	require.Equal(t, "alive\n", out)
}

// What the caller of `up` has open is open in none of the cluster's processes, and in no pod's.
func (c *cluster) testCallersFiles(t *testing.T) {
	p := c.runPod(t, podOf("callers-files", `ls -l /proc/[0-9]*/fd; cat /proc/[0-9]*/fd/`+strconv.Itoa(secretFD)+` 2>/dev/null; echo checked`))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	log := c.log(t, "callers-files", "main")
	require.Contains(t, log, "checked\n")
	require.NotContains(t, log, c.secret)
	found, err := filepath.Glob("/proc/[0-9]*/fd/*")
	require.NoError(t, err)
	for _, path := range found {
		if target, err := os.Readlink(path); err == nil && strings.Contains(target, c.secret) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), "cmdline")) // it may be gone
			t.Errorf("%s leads to %s, in %q", path, target, command)
		}
	}
}

// What a step leaves for the kubelet to read may be a link to the cluster's keys.
func (c *cluster) testPlantedOutputs(t *testing.T) {
	key := pki.File(c.home.PKI(), "ca", "key")
	name := "planted-" + fmt.Sprint(os.Getpid())
	wf := *c
	wf.namespace = "kubeflow"
	wf.create(t, workflows, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: `+name+`}
spec:
  entrypoint: main
  templates:
    - name: main
      container:
        image: host
        command: [sh, -c, "mkdir -p /var/run/argo/outputs/parameters/tmp; ln -s `+key+` /var/run/argo/outputs/parameters/tmp/v; true"]
      outputs: {parameters: [{name: v, valueFrom: {path: /tmp/v}}]}
`)
	var status any
	wf.await(t, workflows, name, func(o map[string]any) bool {
		phase, _, _ := unstructured.NestedString(o, "status", "phase")
		status = o["status"]
		return phase == "Succeeded" || phase == "Failed" || phase == "Error"
	})
	require.NotContains(t, fmt.Sprint(status), "PRIVATE KEY")
}

func (c *cluster) testRefusedContexts(t *testing.T) {
	for name, s := range map[string]struct {
		context corev1.SecurityContext
		reason  string
		message string
	}{
		"non-root":      {corev1.SecurityContext{RunAsNonRoot: ptr(true)}, "CreateContainerConfigError", "container has runAsNonRoot and image will run as root"},
		"non-root-zero": {corev1.SecurityContext{RunAsNonRoot: ptr(true), RunAsUser: ptr(int64(0))}, "CreateContainerConfigError", "container's runAsUser breaks non-root policy"},
		"seccomp": {
			corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: ptr("p.json")}},
			"CreateContainerConfigError", "not known to the embedded cluster",
		},
	} {
		c.createPod(t, podOf(name, "true", func(spec *corev1.PodSpec) { spec.Containers[0].SecurityContext = &s.context }))
		p := c.awaitPod(t, name, "waits", func(p *corev1.Pod) bool {
			return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Waiting != nil && p.Status.ContainerStatuses[0].State.Waiting.Reason == s.reason
		})
		require.Contains(t, p.Status.ContainerStatuses[0].State.Waiting.Message, s.message)
		require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	}
	for name, sysctl := range map[string]string{"sysctl": "kernel.core_pattern", "unsafe": "kernel.msgmax"} {
		p := c.runPod(t, podOf(name, "true", func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: sysctl, Value: "8192"}}}
		}))
		require.Equal(t, "SysctlForbidden", p.Status.Reason, sysctl)
	}
}

// The kubelet serves the apiserver alone. It refuses requests without a certificate, or with one that is valid elsewhere.
func TestKubeletPort(t *testing.T) {
	t.Parallel()
	c := shared(t)
	nodes, err := c.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, nodes.Items)
	ca, err := os.ReadFile(pki.File(c.home.PKI(), "ca", "crt"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca))
	ask := func(user string) (int, error) {
		cfg := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		if user != "" {
			pair, err := tls.LoadX509KeyPair(pki.File(c.home.PKI(), user, "crt"), pki.File(c.home.PKI(), user, "key"))
			require.NoError(t, err)
			cfg.Certificates = []tls.Certificate{pair}
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true}}
		resp, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d/containerLogs/a/b/c", nodes.Items[0].Status.DaemonEndpoints.KubeletEndpoint.Port))
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	_, err = ask("")
	require.ErrorContains(t, err, "certificate required")
	for _, user := range []string{pki.Admin, pki.Kubelet, pki.Argo} {
		code, err := ask(user)
		require.NoError(t, err)
		require.Equal(t, http.StatusForbidden, code, user)
	}
	code, err := ask(pki.KubeletClient)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, code, "of a pod that is not there")
}

// A pod's token gets what its service account may do and no more.
func TestPodsHaveTheirAccountsRights(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("asks", "echo up; sleep 1000"))
	c.awaitLog(t, "asks", "up")
	_, token, _ := c.exec(t, "asks", nil, "cat", "/var/run/secrets/kubernetes.io/serviceaccount/token")
	cfg := rest.AnonymousClientConfig(c.config)
	cfg.BearerToken = token
	k, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	core := k.CoreV1()
	for what, ask := range map[string]func() error{
		"secrets": func() error { _, err := core.Secrets(c.namespace).List(t.Context(), metav1.ListOptions{}); return err },
		"pods":    func() error { _, err := core.Pods(c.namespace).List(t.Context(), metav1.ListOptions{}); return err },
		"a new pod": func() error {
			_, err := core.Pods(c.namespace).Create(t.Context(), podOf("x", "true"), metav1.CreateOptions{})
			return err
		},
		"nodes": func() error { _, err := core.Nodes().List(t.Context(), metav1.ListOptions{}); return err },
		"exec": func() error {
			return core.RESTClient().Post().Resource("pods").Namespace(c.namespace).Name("asks").SubResource("exec").Do(t.Context()).Error()
		},
		"workflows": func() error {
			return core.RESTClient().Get().AbsPath("/apis/argoproj.io/v1alpha1/workflows").Do(t.Context()).Error()
		},
		"more right": func() error {
			_, err := k.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}}, metav1.CreateOptions{})
			return err
		},
	} {
		require.True(t, apierrors.IsForbidden(ask()), what)
	}
	_, err = c.kube.RbacV1().RoleBindings(c.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "view"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: c.namespace}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "what was given can be used", func(ctx context.Context) bool {
		_, err := core.Pods(c.namespace).List(ctx, metav1.ListOptions{})
		return err == nil
	})
	_, err = core.Secrets(c.namespace).List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "viewing is not reading secrets")
	// From inside, the apiserver and the object store ask just the same.
	p := c.runPod(t, podOf("inside", `
for u in https://kubernetes.default.svc/api/v1/secrets http://minio-service.kubeflow:9000/mlpipeline; do curl -sk -o /dev/null -w '%{http_code}\n' $u; done`))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Equal(t, "401\n403\n", c.log(t, "inside", "main"))
}

// Only their owner can read the files that hold credentials, and only the owner can use the sockets.
func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	c := shared(t)
	private := []string{"kubeconfig", "cluster/info.json", "cluster/s3.json"}
	for _, pattern := range []string{"cluster/*.kubeconfig", "cluster/pki/*", "cluster/run/*.sock"} {
		found, err := filepath.Glob(filepath.Join(string(c.home), pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, f := range found {
			rel, err := filepath.Rel(string(c.home), f)
			require.NoError(t, err)
			private = append(private, rel)
		}
	}
	for _, f := range private {
		st, err := os.Stat(filepath.Join(string(c.home), f))
		require.NoError(t, err)
		others := os.FileMode(0o077)
		if st.Mode()&os.ModeSocket != 0 {
			others = 0o022 // to write is to connect
		}
		require.Zero(t, st.Mode().Perm()&others, "%s: %v", f, st.Mode())
	}
	for _, d := range []string{"cluster", "cluster/pki", "cluster/run", "cluster/etcd", "cluster/s3"} {
		st, err := os.Stat(filepath.Join(string(c.home), d))
		require.NoError(t, err)
		require.Zero(t, st.Mode().Perm()&0o077, d)
	}
	_, err := net.Dial("tcp", "127.0.0.1:10250")
	require.Error(t, err, "no port is a fixed one")
}
