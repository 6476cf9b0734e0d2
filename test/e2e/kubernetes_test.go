//go:build e2e

package e2e

import (
	"context"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// kubernetesGet reads a path of the API that a kubeconfig names.
func kubernetesGet(kubeconfig, path string) ([]byte, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.RESTClient().Get().AbsPath(path).DoRaw(context.Background())
}
