package security

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// The user of a container comes from its security context, the pod's or its image.
func TestRunAsNonRoot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		image string // its USER
		user  *int64
		fails string
		want  container.User
	}{
		"nobody says":               {fails: "image will run as root"},
		"the image, a number":       {image: "65532:100", want: container.User{Name: "65532:100", Merge: true}},
		"the image, root":           {image: "0", fails: "image will run as root"},
		"the image, a name":         {image: "ann", fails: "non-numeric user (ann)"},
		"the pod":                   {user: ptr(int64(7)), want: container.User{UID: 7, Merge: true}},
		"the pod and not its image": {image: "root", user: ptr(int64(7)), want: container.User{UID: 7, Merge: true}},
		"the pod, root":             {image: "1000", user: ptr(int64(0)), fails: "breaks non-root policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := &corev1.Pod{}
			obj.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: ptr(true)}
			var spec container.Spec
			own := testContainer(obj, &corev1.Container{Name: "c", SecurityContext: &corev1.SecurityContext{RunAsUser: c.user}})
			own.ImageUser = c.image
			err := own.Apply(&spec)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, &c.want, spec.User)
		})
	}
}

// The pod's user counts whatever the image is called.
func TestEveryImageObeysItsUser(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"argoexec", "somebody/argoexec:v1", "host"} {
		obj := &corev1.Pod{}
		var spec container.Spec
		c := &corev1.Container{Name: "c", Image: image, SecurityContext: &corev1.SecurityContext{RunAsUser: ptr(int64(7)), RunAsNonRoot: ptr(true)}}
		require.NoError(t, testContainer(obj, c).Apply(&spec))
		require.Equal(t, &container.User{UID: 7, Merge: true}, spec.User, image)
		c.SecurityContext.RunAsUser = nil
		require.ErrorContains(t, testContainer(obj, c).Apply(&spec), "image will run as root", image)
	}
}

// A container that shares processes with another must not trace the other while it is set up.
func TestSharedProcessesAreNotTraced(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]*corev1.SecurityContext{
		"nothing asked": nil,
		"asked":         {Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN", "cap_sys_ptrace"}}},
		"all asked":     {Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"ALL"}}},
		"privileged":    {Privileged: ptr(true)},
	} {
		obj := &corev1.Pod{}
		obj.Spec.ShareProcessNamespace = ptr(true)
		var spec container.Spec
		require.NoError(t, testContainer(obj, &corev1.Container{Name: "c", SecurityContext: own}).Apply(&spec))
		all, err := container.Capabilities([]string{"SYS_PTRACE"}, []string{"ALL"})
		require.NoError(t, err)
		require.NotContains(t, spec.Capabilities, all[0], name)
		require.False(t, spec.Privileged, name)
	}
}

// No container gets a capability that reaches into the networks of other pods, and a container that asks for one gets a warning.
func TestNetworksOfOthersAreOutOfReach(t *testing.T) {
	t.Parallel()
	numbers := func(names ...string) []uintptr {
		n, err := container.Capabilities(names, []string{"ALL"})
		require.NoError(t, err)
		return n
	}
	for name, own := range map[string]*corev1.SecurityContext{
		"nothing asked": nil,
		"asked":         {Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN", "cap_net_raw"}}},
		"all asked":     {Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"ALL"}}},
		"privileged":    {Privileged: ptr(true)},
	} {
		for _, onNode := range []bool{false, true} {
			obj := &corev1.Pod{}
			obj.Spec.HostNetwork = onNode
			var spec container.Spec
			require.NoError(t, testContainer(obj, &corev1.Container{Name: "c", SecurityContext: own}).Apply(&spec))
			require.NotContains(t, spec.Capabilities, numbers("NET_ADMIN")[0], name)
			require.Equal(t, !onNode, slices.Contains(spec.Capabilities, numbers("NET_RAW")[0]), name)
			require.Contains(t, spec.Capabilities, numbers("CHOWN")[0], name)
			require.Equal(t, name == "privileged", spec.Privileged, name)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func testContainer(obj *corev1.Pod, c *corev1.Container) Container {
	return Container{Pod: obj, Container: c, Warn: func(string, string, ...any) {}}
}
