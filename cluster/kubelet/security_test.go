package kubelet

import (
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
)

// Who a container runs as may stand in its security context, in the pod's or in its image.
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
			obj := samplePod()
			obj.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: ptr(true)}
			p := testPod(t, obj)
			p.images["c"] = &unpacked{config: v1.Config{User: c.image}}
			var spec container.Spec
			err := p.secure(&corev1.Container{Name: "c", SecurityContext: &corev1.SecurityContext{RunAsUser: c.user}}, &spec)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, &c.want, spec.User)
		})
	}
}
