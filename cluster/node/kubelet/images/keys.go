package images

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	pullsecrets "github.com/google/go-containerregistry/pkg/authn/kubernetes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// secretLimit is how long the credentials of a pull may take to be read.
const secretLimit = 10 * time.Second

// Keys returns the credentials to pull a pod's images with, in the order to try them, and a fingerprint that is equal for equal
// credentials. The pod's own come first, which include those of its service account: the apiserver put them there. Those of the
// cluster's owner follow.
func Keys(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, warn func(reason, format string, args ...any)) (keys []authn.Keychain, fingerprint string) {
	ctx, cancel := context.WithTimeout(ctx, secretLimit)
	defer cancel()
	hash := sha256.New()
	for _, ref := range pod.Spec.ImagePullSecrets {
		secret, err := client.CoreV1().Secrets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		var key authn.Keychain
		if err == nil {
			key, err = pullsecrets.NewFromPullSecrets(ctx, []corev1.Secret{*secret})
		}
		if err != nil {
			warn("FailedToRetrieveImagePullSecret", "Unable to use image pull secret %s, attempting to pull the image without it: %v", ref.Name, err)
			continue
		}
		fmt.Fprintf(hash, "%s/%s ", secret.UID, secret.ResourceVersion)
		keys = append(keys, key)
	}
	return append(keys, authn.DefaultKeychain), hex.EncodeToString(hash.Sum(nil))
}
