package environment

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/objects"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	env := Variables{"A": "1", "B": "$(A)", "EMPTY": ""}
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
		require.Equal(t, want, env.Expand(in), "%q", in)
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"$(A)", "$$(A)", "$(", "$)", "$(A)$(", "$$$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := (Variables{}).Expand(s); !strings.Contains(s, "$$") && got != s {
			t.Fatalf("%q became %q though there is nothing to expand", s, got)
		}
	})
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
	s := testSource(t, testObject(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm", Namespace: "ns"}, Data: map[string]string{"key": "from-cm", "a=b": "x"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "ns"}, Data: map[string][]byte{"k": []byte("secret")}})
	env, err := s.Of(t.Context(), c, nil, nil)
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
	s := testSource(t, testObject(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "ns"}})
	ref := func(name, key string) *corev1.Container {
		return &corev1.Container{Env: []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key},
		}}}}
	}
	var missing *podspec.MissingError
	_, err := s.Of(t.Context(), ref("none", "k"), nil, nil)
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, `secret "none" not found`)
	_, err = s.Of(t.Context(), ref("s", "k"), nil, nil)
	var unusable *podspec.UnusableError
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
	s := testSource(t, testObject(), web, headless, other)
	env := Variables{}
	require.NoError(t, s.addServices(t.Context(), env))
	require.Equal(t, Variables{
		"MY_WEB_SERVICE_HOST": "10.96.0.9", "MY_WEB_SERVICE_PORT": "80", "MY_WEB_SERVICE_PORT_HTTP": "80", "MY_WEB_SERVICE_PORT_DNS": "53",
		"MY_WEB_PORT": "tcp://10.96.0.9:80", "MY_WEB_PORT_80_TCP": "tcp://10.96.0.9:80", "MY_WEB_PORT_80_TCP_PROTO": "tcp", "MY_WEB_PORT_80_TCP_PORT": "80",
		"MY_WEB_PORT_80_TCP_ADDR": "10.96.0.9", "MY_WEB_PORT_53_UDP": "udp://10.96.0.9:53", "MY_WEB_PORT_53_UDP_PROTO": "udp", "MY_WEB_PORT_53_UDP_PORT": "53",
		"MY_WEB_PORT_53_UDP_ADDR": "10.96.0.9",
		"KUBERNETES_SERVICE_HOST": "10.88.0.1", "KUBERNETES_SERVICE_PORT": "443", "KUBERNETES_SERVICE_PORT_HTTPS": "443", "KUBERNETES_PORT": "tcp://10.88.0.1:443",
		"KUBERNETES_PORT_443_TCP": "tcp://10.88.0.1:443", "KUBERNETES_PORT_443_TCP_PROTO": "tcp", "KUBERNETES_PORT_443_TCP_PORT": "443", "KUBERNETES_PORT_443_TCP_ADDR": "10.88.0.1",
	}, env)
	s.Pod.Spec.EnableServiceLinks = new(bool)
	env = Variables{}
	require.NoError(t, s.addServices(t.Context(), env))
	require.Len(t, env, 8, "only the apiserver")
}

func TestField(t *testing.T) {
	t.Parallel()
	s := testSource(t, testObject())
	for path, want := range map[string]string{
		"metadata.name": "p", "metadata.namespace": "ns", "metadata.uid": "u-1", "spec.nodeName": "local", "spec.serviceAccountName": "sa",
		"metadata.labels": "a=\"1\"\nb=\"2\"", "metadata.annotations['x/y']": `say "hi"`, "metadata.labels['none']": "", "status.hostIP": "10.88.0.2",
	} {
		got, err := s.Fields.Field(path)
		require.NoError(t, err, path)
		require.Equal(t, want, got, path)
	}
	_, err := s.Fields.Field("spec.containers")
	require.ErrorContains(t, err, `field "spec.containers" is not known`)
}

func testObject() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u-1",
			Labels: map[string]string{"b": "2", "a": "1"}, Annotations: map[string]string{"x/y": `say "hi"`},
		},
		Spec: corev1.PodSpec{ServiceAccountName: "sa", NodeName: "local"},
	}
}

// testSource is the source of a pod's variables in a cluster with the given objects.
func testSource(t *testing.T, obj *corev1.Pod, known ...any) Source {
	t.Helper()
	client := fake.NewClientset()
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, o := range known {
		switch o := o.(type) {
		case *corev1.ConfigMap:
			require.NoError(t, client.Tracker().Add(o))
		case *corev1.Secret:
			require.NoError(t, client.Tracker().Add(o))
		case *corev1.Service:
			require.NoError(t, services.Add(o))
		}
	}
	return Source{
		Pod: obj, Objects: objects.Reader{Client: client, Namespace: obj.Namespace},
		Fields:   Fields{Pod: obj, Latest: func() *corev1.Pod { return obj }, Addr: netip.MustParseAddr("10.88.0.9")},
		Services: Services{Lister: corelisters.NewServiceLister(services), Synced: func() bool { return true }},
		Warn:     func(string, string, ...any) {},
	}
}
