package volumes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// isLocal says whether a path is the folder of a volume of the class `local`. Pods do not see these folders, except for those whose
// claims they mount.
func (n *Node) isLocal(path string) bool {
	return filepath.Dir(filepath.Dir(filepath.Clean(path))) == filepath.Clean(n.Claims)
}

// claim returns the folder of the volume that is bound to a claim of the pod's namespace.
func (p *Pod) claim(ctx context.Context, name string) (string, error) {
	claim, err := p.Client.CoreV1().PersistentVolumeClaims(p.Obj.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", podspec.Missing("persistentvolumeclaim %q", name)
	}
	if err != nil {
		return "", err
	}
	return p.volumeOf(ctx, claim)
}

// ephemeral is claim for a volume whose claim belongs to the pod.
func (p *Pod) ephemeral(ctx context.Context, volume string) (string, error) {
	name := p.Obj.Name + "-" + volume
	claim, err := p.Client.CoreV1().PersistentVolumeClaims(p.Obj.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", podspec.Missing("persistentvolumeclaim %q", name)
	}
	if err != nil {
		return "", err
	}
	if !metav1.IsControlledBy(claim, p.Obj) {
		return "", fmt.Errorf("persistentvolumeclaim %q was not made for this pod", name)
	}
	return p.volumeOf(ctx, claim)
}

func (p *Pod) volumeOf(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	// The scheduler has checked this, but not for a pod that names its node itself.
	if claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "" {
		return "", fmt.Errorf("persistentvolumeclaim %q is not bound to a volume", claim.Name)
	}
	volume, err := p.Client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", podspec.Missing("persistentvolume %q", claim.Spec.VolumeName)
	}
	if err != nil {
		return "", err
	}
	switch s := volume.Spec.PersistentVolumeSource; {
	case volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.UID != claim.UID:
		return "", fmt.Errorf("persistentvolume %q is bound to another claim", volume.Name)
	case s.HostPath != nil && p.isLocal(s.HostPath.Path):
		if _, err := os.Stat(s.HostPath.Path); err != nil {
			return "", err
		}
		return s.HostPath.Path, nil
	case s.HostPath != nil:
		return p.hostPath(s.HostPath)
	case s.Local != nil:
		return p.hostPath(directory(s.Local.Path))
	}
	return "", podspec.Unsupported("persistentvolume %q is neither hostPath nor local, and the embedded cluster has no others", volume.Name)
}

// directory is a path that must be one.
func directory(path string) *corev1.HostPathVolumeSource {
	kind := corev1.HostPathDirectory
	return &corev1.HostPathVolumeSource{Path: path, Type: &kind}
}

// MakeFolder makes a folder with exactly that mode, whatever the umask is.
func MakeFolder(path string, mode fs.FileMode) error {
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
