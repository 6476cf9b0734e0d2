package kubelet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claimsDir holds the volumes of the storage class `local`.
func (k *Kubelet) claimsDir() string { return filepath.Join(k.clusterDir(), "volumes") }

// ownVolume says whether a path is the folder of a volume of the class `local`. Such folders are hidden from pods like all of
// the cluster's, but for the one whose claim a pod mounts.
func (k *Kubelet) ownVolume(path string) bool {
	return filepath.Dir(filepath.Dir(filepath.Clean(path))) == filepath.Clean(k.claimsDir())
}

// claim returns the folder of the volume that is bound to a claim of the pod's namespace.
func (p *pod) claim(name string) (string, error) {
	claim, err := p.k.client.CoreV1().PersistentVolumeClaims(p.obj.Namespace).Get(p.starting, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", missing("persistentvolumeclaim %q", name)
	}
	if err != nil {
		return "", err
	}
	return p.volumeOf(claim)
}

// ephemeral is claim for a volume whose claim is made for the pod and goes with it.
func (p *pod) ephemeral(volume string) (string, error) {
	name := p.obj.Name + "-" + volume
	claim, err := p.k.client.CoreV1().PersistentVolumeClaims(p.obj.Namespace).Get(p.starting, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", missing("persistentvolumeclaim %q", name)
	}
	if err != nil {
		return "", err
	}
	if !metav1.IsControlledBy(claim, p.obj) {
		return "", fmt.Errorf("persistentvolumeclaim %q was not made for this pod", name)
	}
	return p.volumeOf(claim)
}

func (p *pod) volumeOf(claim *corev1.PersistentVolumeClaim) (string, error) {
	// The scheduler has seen to this, but not for a pod that names its node itself.
	if claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "" {
		return "", fmt.Errorf("persistentvolumeclaim %q is not bound to a volume", claim.Name)
	}
	volume, err := p.k.client.CoreV1().PersistentVolumes().Get(p.starting, claim.Spec.VolumeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", missing("persistentvolume %q", claim.Spec.VolumeName)
	}
	if err != nil {
		return "", err
	}
	switch s := volume.Spec.PersistentVolumeSource; {
	case volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.UID != claim.UID:
		return "", fmt.Errorf("persistentvolume %q is bound to another claim", volume.Name)
	case s.HostPath != nil && p.k.ownVolume(s.HostPath.Path):
		return s.HostPath.Path, checkHostPath(directory(s.HostPath.Path))
	case s.HostPath != nil:
		return p.hostPath(s.HostPath)
	case s.Local != nil:
		return p.hostPath(directory(s.Local.Path))
	}
	return "", &unsupportedError{fmt.Sprintf("persistentvolume %q is neither hostPath nor local, and the embedded cluster has no others", volume.Name)}
}

// directory is a path that must be one.
func directory(path string) *corev1.HostPathVolumeSource {
	kind := corev1.HostPathDirectory
	return &corev1.HostPathVolumeSource{Path: path, Type: &kind}
}

// makeFolder makes a folder with exactly that mode; the umask has no say in what pods share.
func makeFolder(path string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(path, mode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(path, mode)
}
