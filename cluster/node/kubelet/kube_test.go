package kubelet

import (
	"net/netip"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/argo"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/report"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
)

// testPod is a pod of a kubelet that knows the given objects.
func testPod(t *testing.T, obj *corev1.Pod, objects ...any) *pod {
	t.Helper()
	client := fake.NewClientset()
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.ConfigMap:
			require.NoError(t, client.Tracker().Add(o))
		case *corev1.Secret:
			require.NoError(t, client.Tracker().Add(o))
		}
	}
	node := obj.Spec.NodeName
	warm := sandbox.NewPool()
	warm.Folder = t.TempDir()
	p := newPod(&Kubelet{
		cfg:    Config{Home: filepath.Join(t.TempDir(), "home [of] tests"), CA: []byte("the CA")},
		client: client, sandboxes: warm, reporters: argo.NewReporters(client), log: discard(),
		events: map[string]record.EventRecorder{node: record.NewFakeRecorder(100)}, rooms: map[string]*admission.Room{node: admission.NewRoom(admission.Node{Name: node})},
		pods: corelisters.NewPodLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})), limits: &admission.Limiter{}, reports: report.New(client),
	}, obj)
	t.Cleanup(p.abandon)
	p.addr = netip.MustParseAddr("10.88.0.9")
	return p
}

func samplePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u-1",
			Labels: map[string]string{"b": "2", "a": "1"}, Annotations: map[string]string{"x/y": `say "hi"`},
		},
		Spec: corev1.PodSpec{ServiceAccountName: "sa", NodeName: "local"},
	}
}
