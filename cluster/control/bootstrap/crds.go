package bootstrap

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// The definitions come from the modules of Argo, mpi-operator, training-operator and Volcano; the README beside them is there so that
// this package compiles before they were fetched.
//
//go:generate ../build/crds.sh
//go:embed crds
var crds embed.FS

var crdResource = resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")

func applyCRDs(ctx context.Context, cfg *rest.Config, client dynamic.Interface) error {
	files, err := fs.Glob(crds, "crds/*.json")
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("this argosy-cluster was built without custom resource definitions; run cluster/build/crds.sh and build again")
	}
	raw, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	var g errgroup.Group
	for _, f := range files {
		g.Go(func() error {
			crd, err := applyCRD(ctx, client.Resource(crdResource), f)
			if err == nil {
				err = awaitServed(ctx, raw, cfg.Host, crd)
			}
			if err == nil {
				err = age(ctx, client.Resource(crdResource), crd.GetName())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", path.Base(f), err)
			}
			return nil
		})
	}
	return g.Wait()
}

// applyCRD makes the definition in a file true, in outline if it is a large one that is not there yet, and returns it as the
// apiserver has it.
func applyCRD(ctx context.Context, client dynamic.ResourceInterface, file string) (*unstructured.Unstructured, error) {
	whole, err := readDefinition(file)
	if err != nil {
		return nil, err
	}
	wanted := whole
	if whole.large() {
		if wanted, err = whole.outline(); err != nil {
			return nil, err
		}
	}
	found, err := client.Get(ctx, whole.name, metav1.GetOptions{})
	if err == nil && found.GetAnnotations()[contentAnnotation] == whole.content {
		return found, nil
	}
	return put(ctx, client, wanted, found, err)
}

// CompleteDefinition gives the kind of a resource its whole schema, if there is only an outline of it so far. Kinds that are
// not defined here have nothing to complete.
func CompleteDefinition(ctx context.Context, cfg *rest.Config, kind schema.GroupResource) error {
	whole, err := readDefinition(path.Join("crds", kind.Group+"_"+kind.Resource+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	definitions := client.Resource(crdResource)
	found, err := definitions.Get(ctx, whole.name, metav1.GetOptions{})
	crd, err := put(ctx, definitions, whole, found, err)
	if err != nil {
		return fmt.Errorf("the schema of %s: %w", kind, err)
	}
	raw, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	return awaitServed(ctx, raw, cfg.Host, crd)
}

// put makes a definition true, given how the search for the one that is there ended.
func put(ctx context.Context, client dynamic.ResourceInterface, d definition, found *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	// Not applied field by field: for schemas of this size that takes the apiserver longer than all the rest.
	switch {
	case apierrors.IsNotFound(err):
		return client.Create(ctx, d.object(), metav1.CreateOptions{FieldManager: fieldManager})
	case err != nil:
		return nil, err
	case found.GetAnnotations()[contentAnnotation] == d.content:
		return found, nil
	}
	o := d.object()
	o.SetResourceVersion(found.GetResourceVersion())
	return client.Update(ctx, o, metav1.UpdateOptions{FieldManager: fieldManager})
}

// awaitServed returns once the apiserver lists the custom resources. Until its cache of them is filled it answers
// "try again in a second", and a controller that starts into that loses the second.
func awaitServed(ctx context.Context, client *http.Client, host string, crd *unstructured.Unstructured) error {
	url, err := listURL(host, crd)
	if err != nil {
		return err
	}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		switch resp.StatusCode {
		case http.StatusOK:
			return nil
		case http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		default:
			return fmt.Errorf("%s: %s", url, resp.Status)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %s: %w", url, resp.Status, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// young is how long the apiserver delays the creation of a custom resource, because in a group of apiservers another one
// may not know of the definition yet. Here there is one.
const young = 2 * time.Second

// age waits until a definition is established, and makes it one that was established some time ago.
func age(ctx context.Context, client dynamic.ResourceInterface, name string) error {
	for {
		aged, err := tryAge(ctx, client, name)
		if aged || err != nil && !apierrors.IsConflict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not established: %w", name, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func tryAge(ctx context.Context, client dynamic.ResourceInterface, name string) (aged bool, err error) {
	crd, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return false, err
	}
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if !ok || condition["type"] != "Established" || condition["status"] != "True" {
			continue
		}
		text, _ := condition["lastTransitionTime"].(string)
		if at, err := time.Parse(time.RFC3339, text); err != nil || time.Since(at) > young {
			return true, err
		}
		condition["lastTransitionTime"] = time.Now().Add(-2 * young).UTC().Format(time.RFC3339)
		if err := unstructured.SetNestedSlice(crd.Object, conditions, "status", "conditions"); err != nil {
			return false, err
		}
		_, err = client.UpdateStatus(ctx, crd, metav1.UpdateOptions{FieldManager: fieldManager})
		return err == nil, err
	}
	return false, nil
}

// listURL is where the custom resources are listed, all namespaces together.
func listURL(host string, crd *unstructured.Unstructured) (string, error) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return "", err
	}
	for _, v := range versions {
		if m, ok := v.(map[string]any); ok && m["served"] == true {
			return fmt.Sprintf("%s/apis/%s/%s/%s?limit=1", host, group, m["name"], plural), nil
		}
	}
	return "", fmt.Errorf("%s has no version that is served", crd.GetName())
}
