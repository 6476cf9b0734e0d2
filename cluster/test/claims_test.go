package test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func claimOf(name string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{mode},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

func (c *cluster) createClaim(t *testing.T, claim *corev1.PersistentVolumeClaim) {
	t.Helper()
	_, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Create(t.Context(), claim, metav1.CreateOptions{})
	require.NoError(t, err)
}

// createClass makes a storage class that is named like the test's namespace.
func (c *cluster) createClass(t *testing.T, reclaim corev1.PersistentVolumeReclaimPolicy, mode storagev1.VolumeBindingMode) {
	t.Helper()
	classes := c.kube.StorageV1().StorageClasses()
	_, err := classes.Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace}, Provisioner: "argosy.dev/local", ReclaimPolicy: &reclaim, VolumeBindingMode: &mode,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, classes.Delete(context.WithoutCancel(t.Context()), c.namespace, metav1.DeleteOptions{}))
	})
}

// boundVolume waits until a claim has a volume.
func (c *cluster) boundVolume(t *testing.T, name string) *corev1.PersistentVolume {
	t.Helper()
	var volume string
	eventually(t, "claim "+name+" is bound", func(ctx context.Context) bool {
		claim, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		volume = claim.Spec.VolumeName
		return claim.Status.Phase == corev1.ClaimBound
	})
	v, err := c.kube.CoreV1().PersistentVolumes().Get(t.Context(), volume, metav1.GetOptions{})
	require.NoError(t, err)
	return v
}

func withClaim(name string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/data"}}
	}
}

// A claim's folder is made with it, grows with it, and goes with it, but not under a pod that uses it.
func TestClaimsLife(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createClaim(t, claimOf("life", corev1.ReadWriteMany))
	volume := c.boundVolume(t, "life")
	require.Equal(t, "local", volume.Spec.StorageClassName)
	folder := volume.Spec.HostPath.Path
	require.DirExists(t, folder)

	patch := []byte(`{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	claims := c.kube.CoreV1().PersistentVolumeClaims(c.namespace)
	_, err := claims.Patch(t.Context(), "life", types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
	eventually(t, "the claim has grown", func(ctx context.Context) bool {
		claim, err := claims.Get(ctx, "life", metav1.GetOptions{})
		require.NoError(t, err)
		return claim.Status.Capacity.Storage().String() == "3Gi"
	})

	c.createPod(t, podOf("user", "echo text > /data/file; echo up; sleep 1000", withClaim("life")))
	c.awaitLog(t, "user", "up")
	require.NoError(t, claims.Delete(t.Context(), "life", metav1.DeleteOptions{}))
	claim, err := claims.Get(t.Context(), "life", metav1.GetOptions{})
	require.NoError(t, err, "a claim in use stays")
	require.NotNil(t, claim.DeletionTimestamp)
	b, err := os.ReadFile(filepath.Join(folder, "file"))
	require.NoError(t, err)
	require.Equal(t, "text\n", string(b))
	c.deletePod(t, "user")
	eventually(t, "claim, volume and folder are gone", func(ctx context.Context) bool {
		_, err1 := claims.Get(ctx, "life", metav1.GetOptions{})
		_, err2 := c.kube.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		_, err3 := os.Stat(folder)
		return apierrors.IsNotFound(err1) && apierrors.IsNotFound(err2) && os.IsNotExist(err3)
	})
}

// A claim that asks for more than the disk has gets no volume, and an event with the numbers.
func TestClaimTooLarge(t *testing.T) {
	t.Parallel()
	c := shared(t)
	claim := claimOf("huge", corev1.ReadWriteOnce)
	claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("1000Pi")
	c.createClaim(t, claim)
	eventually(t, "the claim is refused", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=ProvisioningFailed,involvedObject.name=huge"})
		require.NoError(t, err)
		return len(events.Items) > 0 && strings.Contains(events.Items[0].Message, "asks for 1000Pi, and the disk has ")
	})
	claim, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Get(t.Context(), "huge", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.ClaimPending, claim.Status.Phase)
}

func TestClaimOfOnePod(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createClaim(t, claimOf("mine", corev1.ReadWriteOncePod))
	c.createPod(t, podOf("first", "echo up; sleep 1000", withClaim("mine")))
	c.awaitLog(t, "first", "up")
	c.createPod(t, podOf("second", "true", withClaim("mine")))
	c.awaitUnschedulable(t, "second", "ReadWriteOncePod")
	c.deletePod(t, "first")
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "second", "ends", ended).Status.Phase)
}

// With the policy Retain, what is in a folder outlives its claim and even its volume.
func TestRetainedClaim(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createClass(t, corev1.PersistentVolumeReclaimRetain, storagev1.VolumeBindingWaitForFirstConsumer)
	claim := claimOf("kept", corev1.ReadWriteOnce)
	claim.Spec.StorageClassName = &c.namespace
	c.createClaim(t, claim)
	require.Equal(t, corev1.PodSucceeded, c.runPod(t, podOf("writes", "echo kept > /data/f", withClaim("kept"))).Status.Phase)
	volume := c.boundVolume(t, "kept")
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "writes", metav1.DeleteOptions{}))
	require.NoError(t, c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Delete(t.Context(), "kept", metav1.DeleteOptions{}))
	eventually(t, "the volume is released", func(ctx context.Context) bool {
		v, err := c.kube.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		require.NoError(t, err)
		return v.Status.Phase == corev1.VolumeReleased
	})
	require.NoError(t, c.kube.CoreV1().PersistentVolumes().Delete(t.Context(), volume.Name, metav1.DeleteOptions{}))
	eventually(t, "the volume is gone", func(ctx context.Context) bool {
		_, err := c.kube.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	b, err := os.ReadFile(filepath.Join(volume.Spec.HostPath.Path, "f"))
	require.NoError(t, err)
	require.Equal(t, "kept\n", string(b))
}

// Programs that the compiler of pipelines keeps are volumes to be read, in a cluster that lists no folder for them.
func TestKeptPrograms(t *testing.T) {
	t.Parallel()
	c := shared(t)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	folder := filepath.Join(cache, "argosy", "programs")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	program, err := os.CreateTemp(folder, "of-a-test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Remove(program.Name())) })
	_, err = program.WriteString("#!/bin/sh\necho it runs\n")
	require.NoError(t, errors.Join(err, program.Chmod(0o755), program.Close()))
	file := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: program.Name(), Type: ptr(corev1.HostPathFile)}}
	p := c.runPod(t, podOf("program", "/v; ( echo x > /v ) 2>/dev/null || echo and stays", mounted(file)))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	require.Equal(t, "it runs\nand stays\n", c.log(t, "program", "main"))
}

// Volumes created by hand show a folder of the machine, by hostPath or local, and never one of the cluster's own.
func TestStaticVolumes(t *testing.T) {
	t.Parallel()
	c := shared(t)
	folder, err := os.MkdirTemp(hostFolder, "")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(folder, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "data"), []byte("of the machine\n"), 0o644))
	sources := map[string]corev1.PersistentVolumeSource{
		"host":  {HostPath: &corev1.HostPathVolumeSource{Path: folder}},
		"local": {Local: &corev1.LocalVolumeSource{Path: folder}},
		"keys":  {HostPath: &corev1.HostPathVolumeSource{Path: c.home.PKI()}},
	}
	for name, source := range sources {
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: c.namespace + "-" + name},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, PersistentVolumeSource: source,
				ClaimRef: &corev1.ObjectReference{Namespace: c.namespace, Name: name},
			},
		}
		if source.Local != nil {
			volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"local"}}},
			}}}}
		}
		_, err := c.kube.CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{})
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, c.kube.CoreV1().PersistentVolumes().Delete(context.WithoutCancel(t.Context()), volume.Name, metav1.DeleteOptions{}))
		})
		claim := claimOf(name, corev1.ReadWriteOnce)
		claim.Spec.StorageClassName = new(string)
		c.createClaim(t, claim)
	}
	for _, name := range []string{"host", "local"} {
		p := c.runPod(t, podOf(name, "cat /data/data", withClaim(name)))
		require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
		require.Equal(t, "of the machine\n", c.log(t, name, "main"))
	}
	c.createPod(t, podOf("thief", "ls /data", withClaim("keys")))
	eventually(t, "the pod does not get the keys", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedMount,involvedObject.name=thief"})
		require.NoError(t, err)
		return len(events.Items) > 0
	})
	p, err := c.kube.CoreV1().Pods(c.namespace).Get(t.Context(), "thief", metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEqual(t, corev1.PodSucceeded, p.Status.Phase)
}

// A workflow's own claims, and a pod's: made with it, gone with it.
func TestClaimsOfOthers(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.create(t, workflows, `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "shares"}, "spec": {
		"entrypoint": "main", "volumeClaimGC": {"strategy": "OnWorkflowCompletion"},
		"volumeClaimTemplates": [{"metadata": {"name": "work"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}],
		"templates": [
			{"name": "main", "steps": [[{"name": "a", "template": "write"}], [{"name": "b", "template": "read"}]]},
			{"name": "write", "container": {"image": "host", "command": ["sh", "-c", "echo from a > /job/f"], "volumeMounts": [{"name": "work", "mountPath": "/job"}]}},
			{"name": "read", "container": {"image": "host", "command": ["grep", "from a", "/job/f"], "volumeMounts": [{"name": "work", "mountPath": "/job"}]}}]}}`)
	c.succeeds(t, "shares")
	ephemeral := podOf("brings-its-own", "echo x > /data/f", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claimOf("", corev1.ReadWriteOnce).Spec},
		}}}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/data"}}
	})
	require.Equal(t, corev1.PodSucceeded, c.runPod(t, ephemeral).Status.Phase)
	c.boundVolume(t, "brings-its-own-v")
	c.deletePod(t, "brings-its-own")
	eventually(t, "no claim and no folder is left", func(ctx context.Context) bool {
		claims, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		_, err = os.Stat(filepath.Join(string(c.home), "cluster", "volumes", c.namespace))
		return len(claims.Items) == 0 && os.IsNotExist(err)
	})
}

// A claim whose class is not there yet says so, and gets its folder when it is.
func TestClaimBeforeItsClass(t *testing.T) {
	t.Parallel()
	c := shared(t)
	claim := claimOf("early", corev1.ReadWriteOnce)
	claim.Spec.StorageClassName = &c.namespace
	claim.Annotations = map[string]string{ // as when the class was removed a moment ago
		"volume.kubernetes.io/storage-provisioner": "argosy.dev/local", "volume.beta.kubernetes.io/storage-provisioner": "argosy.dev/local",
	}
	c.createClaim(t, claim)
	eventually(t, "an event says why it waits", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=early,source=argosy.dev/local"})
		require.NoError(t, err)
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return strings.Contains(e.Message, "not found") })
	})
	c.createClass(t, corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate)
	c.boundVolume(t, "early")
}
