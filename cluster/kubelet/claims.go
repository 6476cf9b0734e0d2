package kubelet

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
	"k8s.io/apimachinery/pkg/types"
)

// A persistent volume claim is a folder that lives as long as the claim. Its id
// is part of the name: a claim made anew under an old name is empty.
func (k *Kubelet) claimDir(claim *corev1.PersistentVolumeClaim) string {
	return filepath.Join(k.claimsDir(), claim.Namespace, claim.Name+"."+string(claim.UID))
}

func (k *Kubelet) claimsDir() string { return filepath.Join(k.clusterDir(), "volumes") }

// claim returns the folder of a claim of the pod's namespace and says that the claim is bound.
func (p *pod) claim(name string) (string, error) {
	claims := p.k.client.CoreV1().PersistentVolumeClaims(p.obj.Namespace)
	claim, err := claims.Get(p.starting, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", missing("persistentvolumeclaim %q", name)
	}
	if err != nil {
		return "", err
	}
	folder := p.k.claimDir(claim)
	if err := makeFolder(folder, 0o777); err != nil || claim.Status.Phase == corev1.ClaimBound {
		return folder, err
	}
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"phase":"Bound"}}`, claim.UID)
	if _, err := claims.Patch(p.starting, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return "", fmt.Errorf("bind persistentvolumeclaim %q: %w", name, err)
	}
	return folder, nil
}

// removeClaims removes the folders of claims that exist no more.
func (k *Kubelet) removeClaims(ctx context.Context) error {
	folders, err := filepath.Glob(filepath.Join(k.claimsDir(), "*", "*"))
	if err != nil || len(folders) == 0 {
		return err
	}
	// Asked for after the folders: what has a claim by now is kept.
	claims, err := k.client.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for i := range claims.Items {
		kept[k.claimDir(&claims.Items[i])] = true
	}
	var errs []error
	for _, f := range folders {
		if !kept[f] {
			errs = append(errs, os.RemoveAll(f))
		}
	}
	return errors.Join(errs...)
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
