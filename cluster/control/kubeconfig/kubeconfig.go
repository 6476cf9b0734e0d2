// Package kubeconfig writes the files that clients of the embedded cluster read.
package kubeconfig

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

// Write puts a kubeconfig at path for the user whose certificate is name in
// the folder pkiDir. Keys are part of the file, so it works wherever it is copied to.
func Write(path, server, namespace, pkiDir, name string) error {
	cluster, user := api.NewCluster(), api.NewAuthInfo()
	cluster.Server = server
	for file, into := range map[string]*[]byte{
		pki.File(pkiDir, "ca", "crt"): &cluster.CertificateAuthorityData,
		pki.File(pkiDir, name, "crt"): &user.ClientCertificateData,
		pki.File(pkiDir, name, "key"): &user.ClientKeyData,
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("kubeconfig %s: %w", path, err)
		}
		*into = b
	}
	context := api.NewContext()
	context.Cluster, context.AuthInfo, context.Namespace = "argosy", name, namespace
	b, err := clientcmd.Write(api.Config{
		Clusters:       map[string]*api.Cluster{"argosy": cluster},
		AuthInfos:      map[string]*api.AuthInfo{name: user},
		Contexts:       map[string]*api.Context{"argosy": context},
		CurrentContext: "argosy",
	})
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return home.WriteFile(path, b)
}
