// Package objects reads the ConfigMaps and Secrets to which pods refer.
package objects

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// rootCA is the ConfigMap with the cluster's authority, which every namespace is promised.
const rootCA = "kube-root-ca.crt"

// Reader reads the objects of one namespace.
type Reader struct {
	Client    kubernetes.Interface
	Namespace string
	CA        []byte // the cluster's authority in PEM
}

// ConfigMap returns the data of a ConfigMap; nothing for an optional one that does not exist.
func (r Reader) ConfigMap(ctx context.Context, name string, optional *bool) (map[string][]byte, error) {
	if name == rootCA { // its controller may be a moment behind a new namespace
		return map[string][]byte{"ca.crt": r.CA}, nil
	}
	cm, err := r.Client.CoreV1().ConfigMaps(r.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, explain(err, "configmap", name, optional)
	}
	data := map[string][]byte{}
	for key, s := range cm.Data {
		data[key] = []byte(s)
	}
	for key, b := range cm.BinaryData {
		data[key] = b
	}
	return data, nil
}

// Secret returns the data of a Secret; nothing for an optional one that does not exist.
func (r Reader) Secret(ctx context.Context, name string, optional *bool) (map[string][]byte, error) {
	s, err := r.Client.CoreV1().Secrets(r.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, explain(err, "secret", name, optional)
	}
	return s.Data, nil
}

// explain names the object in an error of the API. It returns nil for an optional object that does not exist.
func explain(err error, kind, name string, optional *bool) error {
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("%s %q: %w", kind, name, err)
	}
	if podspec.IsTrue(optional) {
		return nil
	}
	return podspec.Missing("%s %q", kind, name)
}
