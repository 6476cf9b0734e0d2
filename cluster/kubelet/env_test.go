package kubelet

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	env := environment{"A": "1", "B": "$(A)", "EMPTY": ""}
	for in, want := range map[string]string{
		"":                   "",
		"plain":              "plain",
		"$(A)":               "1",
		"x$(A)y$(A)z":        "x1y1z",
		"$(B)":               "$(A)", // a value is not expanded again
		"$(NONE)":            "$(NONE)",
		"$$(A)":              "$(A)",
		"$$$(A)":             "$1",
		"$":                  "$",
		"a$":                 "a$",
		"$A ${A}":            "$A ${A}",
		"$(A":                "$(A",
		"$(EMPTY)|":          "|",
		"$$$$":               "$$",
		"$((A))":             "$((A))",
		"$(A)$(NONE)$(A)$$x": "1$(NONE)1$x",
	} {
		require.Equal(t, want, env.expand(in), "%q", in)
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"$(A)", "$$(A)", "$(", "$)", "$(A)$(", "$$$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := (environment{}).expand(s); !strings.Contains(s, "$$") && got != s {
			t.Fatalf("%q became %q though there is nothing to expand", s, got)
		}
	})
}

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
	p := newPod(&Kubelet{
		cfg:    Config{Home: filepath.Join(t.TempDir(), "home [of] tests"), CA: []byte("the CA")},
		client: client, tokens: newTokens(client), log: discard(), services: knownServices(objects),
		events: map[string]record.EventRecorder{node: record.NewFakeRecorder(100)}, rooms: map[string]*room{node: newRoom(Node{Name: node})},
		pods: corelisters.NewPodLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})), limits: &limiter{},
	}, obj)
	t.Cleanup(p.abandon)
	p.addr = netip.MustParseAddr("10.88.0.9")
	return p
}

func knownServices(objects []any) services {
	known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, o := range objects {
		if s, ok := o.(*corev1.Service); ok {
			_ = known.Add(s) // the key of an object with a name is no problem
		}
	}
	return services{ServiceLister: corelisters.NewServiceLister(known), synced: func() bool { return true }}
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

func TestEnvironmentFromAllSources(t *testing.T) {
	t.Parallel()
	yes := true
	c := &corev1.Container{
		Name: "c",
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
		EnvFrom: []corev1.EnvFromSource{
			{Prefix: "CM_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}, Optional: &yes}},
		},
		Env: []corev1.EnvVar{
			{Name: "PLAIN", Value: "v"},
			{Name: "FROM_BEFORE", Value: "$(PLAIN)-$(CM_key)"},
			{Name: "LATER", Value: "$(AFTER)"},
			{Name: "AFTER", Value: "x"},
			{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			{Name: "LABEL", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['a']"}}},
			{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "requests.cpu"}}},
			{Name: "MEM", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}}},
			{Name: "UNSET", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "requests.memory"}}},
			{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}},
			{Name: "NO_KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "no", Optional: &yes}}},
		},
	}
	p := testPod(t, samplePod(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm", Namespace: "ns"}, Data: map[string]string{"key": "from-cm", "a=b": "x"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "ns"}, Data: map[string][]byte{"k": []byte("secret")}})
	env, err := p.environmentOf(c)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"PLAIN": "v", "CM_key": "from-cm", "FROM_BEFORE": "v-from-cm", "LATER": "$(AFTER)", "IP": "10.88.0.9", "LABEL": "1",
		"CPU": "2", "MEM": "1024", "SECRET": "secret", "UNSET": "0", "PATH": defaultPath, "HOSTNAME": "p", "KUBERNETES_SERVICE_HOST": "10.88.0.1",
	} {
		require.Equal(t, want, env[name], name)
	}
	require.NotContains(t, env, "NO_KEY")
	require.NotContains(t, env, "CM_a=b", "no variable can be called so")
}

func TestEnvironmentSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "ns"}})
	ref := func(name, key string) *corev1.Container {
		return &corev1.Container{Env: []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key},
		}}}}
	}
	var missing *missingError
	_, err := p.environmentOf(ref("none", "k"))
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, `secret "none" not found`)
	_, err = p.environmentOf(ref("s", "k"))
	var unusable *unusableError
	require.ErrorAs(t, err, &unusable)
	require.EqualError(t, err, `couldn't find key k in Secret ns/s`)
}

func TestServiceVariables(t *testing.T) {
	t.Parallel()
	web := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "my-web", Namespace: "ns"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.0.9", Ports: []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}}},
	}
	headless := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: "ns"}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: web.Spec.Ports}}
	other := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "far", Namespace: "other"}, Spec: web.Spec}
	p := testPod(t, samplePod(), web, headless, other)
	env := environment{}
	require.NoError(t, p.serviceVariables(env))
	require.Equal(t, environment{
		"MY_WEB_SERVICE_HOST": "10.96.0.9", "MY_WEB_SERVICE_PORT": "80", "MY_WEB_SERVICE_PORT_HTTP": "80", "MY_WEB_SERVICE_PORT_DNS": "53",
		"MY_WEB_PORT": "tcp://10.96.0.9:80", "MY_WEB_PORT_80_TCP": "tcp://10.96.0.9:80", "MY_WEB_PORT_80_TCP_PROTO": "tcp", "MY_WEB_PORT_80_TCP_PORT": "80",
		"MY_WEB_PORT_80_TCP_ADDR": "10.96.0.9", "MY_WEB_PORT_53_UDP": "udp://10.96.0.9:53", "MY_WEB_PORT_53_UDP_PROTO": "udp", "MY_WEB_PORT_53_UDP_PORT": "53",
		"MY_WEB_PORT_53_UDP_ADDR": "10.96.0.9",
		"KUBERNETES_SERVICE_HOST": "10.88.0.1", "KUBERNETES_SERVICE_PORT": "443", "KUBERNETES_SERVICE_PORT_HTTPS": "443", "KUBERNETES_PORT": "tcp://10.88.0.1:443",
		"KUBERNETES_PORT_443_TCP": "tcp://10.88.0.1:443", "KUBERNETES_PORT_443_TCP_PROTO": "tcp", "KUBERNETES_PORT_443_TCP_PORT": "443", "KUBERNETES_PORT_443_TCP_ADDR": "10.88.0.1",
	}, env)
	p.obj.Spec.EnableServiceLinks = ptr(false)
	env = environment{}
	require.NoError(t, p.serviceVariables(env))
	require.Len(t, env, 8, "only the apiserver")
}

func TestField(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	for path, want := range map[string]string{
		"metadata.name": "p", "metadata.namespace": "ns", "metadata.uid": "u-1", "spec.nodeName": "local", "spec.serviceAccountName": "sa",
		"metadata.labels": "a=\"1\"\nb=\"2\"", "metadata.annotations['x/y']": `say "hi"`, "metadata.labels['none']": "", "status.hostIP": "10.88.0.1",
	} {
		got, err := p.field(path)
		require.NoError(t, err, path)
		require.Equal(t, want, got, path)
	}
	_, err := p.field("spec.containers")
	require.ErrorContains(t, err, `field "spec.containers" is not known`)
}

func TestHostnameOf(t *testing.T) {
	t.Parallel()
	long := samplePod()
	long.Name = strings.Repeat("x", 62) + "-yz"
	require.Equal(t, strings.Repeat("x", 62), hostnameOf(long))
	long.Spec.Hostname = "h"
	require.Equal(t, "h", hostnameOf(long))
}
