// Package k8schain gives Argo's controller, which looks up the commands of images, the kubelet's credentials for pulling them: those of the
// pod, then those of the user who runs the cluster. The real package also asks AWS, Azure and Google with their SDKs (docs/adr/0034); the
// kubelet does not, so it could not pull those images.
package k8schain

import (
	"context"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/kubernetes"
	client "k8s.io/client-go/kubernetes"
)

// Options say whose credentials are meant.
type Options = kubernetes.Options

// New is the keys for images of a pod.
func New(ctx context.Context, c client.Interface, o Options) (authn.Keychain, error) {
	pod, err := kubernetes.New(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return authn.NewMultiKeychain(pod, authn.DefaultKeychain), nil
}
