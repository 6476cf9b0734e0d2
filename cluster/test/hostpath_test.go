package test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A folder of the machine is a volume where the cluster's owner lists it, with all that is in it and nothing beside.
func (c *cluster) testHostPaths(t *testing.T) {
	dir, err := os.MkdirTemp(hostFolder, "")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, nil, 0o600))
	volume := func(path string, kind corev1.HostPathType) func(*corev1.PodSpec) {
		return mounted(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}})
	}
	p := c.runPod(t, podOf("links", "ln -s / /v/root; ln -s "+filepath.Dir(secret)+" /v/other; ln -s /proc/self/root /v/process", volume(dir, corev1.HostPathDirectory)))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	victim := filepath.Join("/proc", strconv.Itoa(os.Getpid()), "root", secret)
	for name, v := range map[string]struct {
		path    string
		kind    corev1.HostPathType
		message string
	}{
		"root":     {"/", corev1.HostPathUnset, "--host-path /"},
		"keys":     {c.home.PKI(), corev1.HostPathUnset, "is not for pods"},
		"new-keys": {filepath.Join(string(c.home), "cluster", "new"), corev1.HostPathDirectoryOrCreate, "is not for pods"},
		"process":  {victim + "-new", corev1.HostPathFileOrCreate, "is not for pods"},
		"link":     {dir + "/other/secret", corev1.HostPathFile, "a symbolic link leads out"},
		"new-link": {dir + "/other/new", corev1.HostPathFileOrCreate, "a symbolic link leads out"},
		"magic":    {dir + "/process/etc", corev1.HostPathUnset, "a symbolic link leads out"},
	} {
		c.createPod(t, podOf("host-"+name, "true", volume(v.path, v.kind)))
		c.awaitEvent(t, "host-"+name, "FailedMount", v.message)
		c.awaitPod(t, "host-"+name, "says what it waits for", func(p *corev1.Pod) bool {
			return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Waiting != nil &&
				strings.Contains(p.Status.ContainerStatuses[0].State.Waiting.Message, v.message)
		})
	}
	entries, err := os.ReadDir(filepath.Dir(secret))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing was made there")
}

// What is in homes is for their owners, but for folders that the owner of the cluster shows.
func (c *cluster) testSecrets(t *testing.T) {
	p := c.runPod(t, podOf("secrets", `cd `+homeFolder+`; ls -d /home > /dev/null || echo no homes
cat key 2>/dev/null && echo "a key"; cat shown/tool; ( touch shown/new ) 2>/dev/null && echo "can write"
for f in /etc/shadow- /etc/gshadow /etc/sudoers /etc/ssl/private/*; do ls -d $f 2>/dev/null; done; grep -v :: /etc/shadow | grep -v ':[*]:'
touch /var/tmp/mine && stat -c %a /var/tmp; id > /home/mine && echo "a home of its own"`, func(s *corev1.PodSpec) {
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr(true)}
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	require.Equal(t, "tool\n1777\na home of its own\n", c.log(t, "secrets", "main"))
	require.NoFileExists(t, "/home/mine")
}
