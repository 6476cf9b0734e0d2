//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// serverImage is the name of the server's image in manifests/server, and that make image gives it.
const serverImage = "argosyml/argosy:dev"

// render gives what kubectl apply -k would apply.
func render(t *testing.T, dir string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/go.mod", "kustomize", "build", dir)
	c.Dir = repository
	var errs strings.Builder
	c.Stderr = &errs
	text, err := c.Output()
	require.NoError(t, err, "%s", errs.String())
	return text
}

// typed reads objects into the types of Kubernetes, which takes no field that they do not have.
func typed(t *testing.T, text []byte) (objects []runtime.Object) {
	t.Helper()
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	for buffer := make([]byte, 1<<20); ; {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		o, _, err := strict.Decode(buffer[:n], nil, nil)
		require.NoError(t, err, "%s", buffer[:n])
		objects = append(objects, o)
	}
}

// runsAsAPod has the server run in the cluster by manifests/server, as they are, from the image of make image. Another pod uses
// it by its Service; what it keeps stays when the pod is another.
func runsAsAPod(t *testing.T, home string, admin *rest.Config) {
	client, err := kubernetes.NewForConfig(admin)
	require.NoError(t, err)
	code, out, errs := command(t, "cluster", "image", "load", filepath.Join(repository, "bin/argosy-image.tar"), "--home", home)
	require.Zero(t, code, "%s%s", out, errs)
	applyText(t, admin, []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"argosy-password","namespace":"kubeflow"},"stringData":{"password":"a good password of some length"}}`))
	applyText(t, admin, render(t, "manifests/server"))
	first := serverPod(t, client, "")

	applyText(t, admin, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"errand","namespace":"kubeflow"},"data":{"errand.yaml":`+string(mustJSON(t, errand))+`}}`))
	said := asClient(t, client, "uses", "argosy.kubeflow.svc.cluster.local",
		[]string{"pipeline", "upload", "/errand/errand.yaml"}, []string{"run", "create", "--pipeline", "errand", "--name", "by a pod", "--wait"})
	require.Regexp(t, `(?m)^Status: +Succeeded$`, said)
	said = asClient(t, client, "reads", "argosy", []string{"run", "logs", "by a pod", "greet"})
	require.Equal(t, "hello\n", said)

	require.NoError(t, client.CoreV1().Pods("kubeflow").Delete(t.Context(), first, metav1.DeleteOptions{}))
	second := serverPod(t, client, first)
	said = asClient(t, client, "finds", "argosy", []string{"run", "get", "by a pod"})
	require.Regexp(t, `(?m)^Status: +Succeeded$`, said)
	log := logOf(t, client, second, "argosy")
	for line := range strings.Lines(log) {
		require.False(t, strings.Contains(line, "forbidden") && !strings.Contains(line, "apply manifests/base"), "%s", line)
	}
}

// serverPod waits until a pod of the Deployment is ready that is another than one, and gives its name.
func serverPod(t *testing.T, client kubernetes.Interface, not string) (name string) {
	t.Helper()
	return awaitPod(t, client, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=argosy"}, func(p *corev1.Pod) bool {
		return p.Name != not && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}).Name
}

// awaitPod watches pods until one is as asked for, and gives it.
func awaitPod(t *testing.T, client kubernetes.Interface, which metav1.ListOptions, is func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	changes, err := client.CoreV1().Pods("kubeflow").Watch(ctx, which) // which begins with those that are there
	require.NoError(t, err)
	defer changes.Stop()
	var last *corev1.Pod
	for change := range changes.ResultChan() {
		pod, ok := change.Object.(*corev1.Pod)
		require.True(t, ok, "%+v", change.Object)
		if change.Type != watch.Deleted && is(pod) {
			return pod
		}
		last = pod
	}
	require.NotNil(t, last, "no pod of %+v", which)
	require.Fail(t, "no pod becomes as asked for", "the last: %s: %+v\n%s", last.Name, last.Status, logOf(t, client, last.Name, last.Spec.Containers[0].Name))
	return nil
}

// asClient runs commands one after the other in a pod, against the server's Service by one of its names, and gives what the last
// printed.
func asClient(t *testing.T, client kubernetes.Interface, name, host string, commands ...[]string) string {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"argosy.dev/client": "true"}}}
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.Volumes = []corev1.Volume{{Name: "errand", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "errand"},
	}}}}
	for _, c := range commands {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{
			Name: strings.Join(c[:2], "-"), Image: serverImage, Command: append([]string{"argosy", "--server", "http://" + host + ":8888"}, c...),
			Env: []corev1.EnvVar{{Name: "ARGOSY_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "argosy-password"}, Key: "password",
			}}}},
			VolumeMounts: []corev1.VolumeMount{{Name: "errand", MountPath: "/errand"}},
		})
	}
	last := len(pod.Spec.InitContainers) - 1
	pod.Spec.Containers, pod.Spec.InitContainers = pod.Spec.InitContainers[last:], pod.Spec.InitContainers[:last]
	_, err := client.CoreV1().Pods("kubeflow").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	pod = awaitPod(t, client, metav1.ListOptions{FieldSelector: "metadata.name=" + name}, func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
	said := logOf(t, client, name, pod.Spec.Containers[0].Name)
	require.Equal(t, corev1.PodSucceeded, pod.Status.Phase, "%s\n%+v", said, pod.Status)
	return said
}

func logOf(t *testing.T, client kubernetes.Interface, pod, container string) string {
	t.Helper()
	log, err := client.CoreV1().Pods("kubeflow").GetLogs(pod, &corev1.PodLogOptions{Container: container}).DoRaw(t.Context())
	if err != nil {
		return err.Error()
	}
	return string(log)
}

// passesAdmission has the API server look at every object of both kinds of installation, strictly, and sees that the server's pod asks
// for no more than the strictest of Kubernetes' Pod Security Standards (restricted) allows.
func passesAdmission(t *testing.T, admin *rest.Config) {
	for dir, kinds := range map[string][]string{
		"manifests/server":   {"ClusterRole", "ClusterRoleBinding", "Deployment", "NetworkPolicy", "PersistentVolumeClaim", "Role", "RoleBinding", "Service", "ServiceAccount"},
		"manifests/postgres": {"ClusterRole", "ClusterRoleBinding", "Deployment", "NetworkPolicy", "Role", "RoleBinding", "Service", "ServiceAccount"},
	} {
		text := render(t, dir)
		var seen []string
		for _, o := range tryText(t, admin, text) {
			seen = append(seen, o.GetKind())
		}
		slices.Sort(seen)
		require.Equal(t, kinds, slices.Compact(seen), dir)
		for _, o := range typed(t, text) {
			if deployment, ok := o.(*appsv1.Deployment); ok {
				isRestricted(t, deployment.Spec.Template.Spec)
			}
		}
	}
}

func isRestricted(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	require.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.NotZero(t, *pod.SecurityContext.RunAsUser)
	require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	for _, v := range pod.Volumes {
		require.True(t, v.PersistentVolumeClaim != nil || v.EmptyDir != nil, "%+v", v)
	}
	require.Len(t, pod.Containers, 1)
	c := pod.Containers[0]
	require.Equal(t, serverImage, c.Image)
	require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
	require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
	require.Equal(t, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, c.SecurityContext.Capabilities)
	require.Nil(t, c.SecurityContext.Privileged)
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		require.Equal(t, "/apis/v1beta1/healthz", p.HTTPGet.Path)
	}
	for _, p := range c.Ports {
		require.Zero(t, p.HostPort)
	}
}

// tryText has the API server check what it would be to apply objects, and changes nothing.
func tryText(t *testing.T, admin *rest.Config, text []byte) []*unstructured.Unstructured {
	t.Helper()
	return send(t, admin, text, []string{metav1.DryRunAll})
}
