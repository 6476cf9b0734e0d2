// Package bootstrap creates the objects that a fresh cluster's components rely
// on: namespaces, rights, Argo's configuration and the custom resource
// definitions of Argo, mpi-operator, training-operator and Volcano. Applying
// them twice changes nothing.
package bootstrap

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"text/template"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/control/versions"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/net/podnet"
)

// fieldManager owns the fields that are applied here.
const fieldManager = "argosy-cluster"

//go:embed objects/*.yaml
var objects embed.FS

// resources are the kinds that objects/ may hold. Asking the apiserver instead would cost a round of discovery at every start.
var resources = map[schema.GroupVersionKind]schema.GroupVersionResource{
	kind("", "v1", "Namespace"):                                   resource("", "v1", "namespaces"),
	kind("", "v1", "ConfigMap"):                                   resource("", "v1", "configmaps"),
	kind("", "v1", "Secret"):                                      resource("", "v1", "secrets"),
	kind("", "v1", "Service"):                                     resource("", "v1", "services"),
	kind("discovery.k8s.io", "v1", "EndpointSlice"):               resource("discovery.k8s.io", "v1", "endpointslices"),
	kind("rbac.authorization.k8s.io", "v1", "ClusterRole"):        resource("rbac.authorization.k8s.io", "v1", "clusterroles"),
	kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"): resource("rbac.authorization.k8s.io", "v1", "clusterrolebindings"),
	kind("rbac.authorization.k8s.io", "v1", "RoleBinding"):        resource("rbac.authorization.k8s.io", "v1", "rolebindings"),
	kind("storage.k8s.io", "v1", "StorageClass"):                  resource("storage.k8s.io", "v1", "storageclasses"),
}

// controllerRoles are the built-in roles of the controllers that run, without their prefix.
var controllerRoles = []string{
	"clusterrole-aggregation-controller", "cronjob-controller", "daemon-set-controller", "deployment-controller", "disruption-controller",
	"endpointslice-controller", "ephemeral-volume-controller", "generic-garbage-collector", "job-controller", "namespace-controller",
	"node-controller", "persistent-volume-binder", "pod-garbage-collector", "pv-protection-controller", "pvc-protection-controller",
	"replicaset-controller", "resourcequota-controller", "root-ca-cert-publisher", "service-account-controller", "statefulset-controller",
	"ttl-after-finished-controller",
}

// Apply brings the cluster to the state above and returns once the custom resources are served.
func Apply(ctx context.Context, cfg *rest.Config, keys home.S3, components []versions.Component) error {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // a few dozen requests, all at once
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.Go(func() error { return applyObjects(ctx, client, keys, components) })
	g.Go(func() error { return applyCRDs(ctx, cfg, client) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("prepare the cluster: %w", err)
	}
	return nil
}

func applyObjects(ctx context.Context, client dynamic.Interface, keys home.S3, components []versions.Component) error {
	all, err := render(keys, components)
	if err != nil {
		return err
	}
	// Namespaces first: what lives in one cannot be made before it.
	for _, wanted := range []bool{true, false} {
		var g errgroup.Group
		for _, o := range all {
			if (o.GetKind() == "Namespace") == wanted {
				g.Go(func() error { return apply(ctx, client, o) })
			}
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, client dynamic.Interface, o *unstructured.Unstructured) error {
	gvr, ok := resources[o.GroupVersionKind()]
	if !ok {
		return fmt.Errorf("%s %s: its kind is not in the table of resources", o.GetKind(), o.GetName())
	}
	_, err := client.Resource(gvr).Namespace(o.GetNamespace()).
		Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// render fills the values of this cluster into the embedded objects.
func render(keys home.S3, components []versions.Component) ([]*unstructured.Unstructured, error) {
	t, err := template.ParseFS(objects, "objects/*.yaml")
	if err != nil {
		return nil, err
	}
	values := map[string]any{
		"Components": components,
		"Bucket":     keys.Bucket, "AccessKey": keys.AccessKey, "SecretKey": keys.SecretKey,
		"ArgoUser": pki.ArgoUser, "MPIOperatorUser": pki.MPIOperatorUser, "TrainingOperatorUser": pki.TrainingOperatorUser,
		"VolcanoSchedulerUser": pki.VolcanoSchedulerUser, "VolcanoControllersUser": pki.VolcanoControllersUser,
		"KubeletUser": pki.KubeletUser, "KubeletClientUser": pki.KubeletClientUser,
		"Gateway":               podnet.Gateway.String(),
		"ControllerManagerUser": pki.ControllerManagerUser, "ControllerRoles": controllerRoles,
	}
	var all []*unstructured.Unstructured
	for _, file := range t.Templates() {
		var b bytes.Buffer
		if err := file.Execute(&b, values); err != nil {
			return nil, err
		}
		docs, err := decode(&b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		all = append(all, docs...)
	}
	return all, nil
}

func decode(r io.Reader) ([]*unstructured.Unstructured, error) {
	var docs []*unstructured.Unstructured
	d := yaml.NewYAMLOrJSONDecoder(r, 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			docs = append(docs, o)
		}
	}
}

func kind(group, version, k string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: k}
}

func resource(group, version, r string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: r}
}
