module github.com/google/go-containerregistry/pkg/authn/k8schain

go 1.26.0

require (
	github.com/google/go-containerregistry v0.20.6
	github.com/google/go-containerregistry/pkg/authn/kubernetes v0.0.0-20250521000321-4eb8c4d84ef0
	k8s.io/client-go v0.34.4
)
