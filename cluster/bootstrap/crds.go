package bootstrap

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// The definitions come from the modules of Argo, mpi-operator, training-operator and Volcano; the README beside them is there so that
// this package compiles before they were fetched.
//
//go:generate ../build/crds.sh
//go:embed crds
var crds embed.FS

// contentAnnotation is the hash of the file a definition was made from: at a warm start, equal ones are left alone.
const contentAnnotation = "argosy.dev/content"

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
			if err != nil {
				return fmt.Errorf("%s: %w", path.Base(f), err)
			}
			return nil
		})
	}
	return g.Wait()
}

// applyCRD makes the definition in a file true and returns it as the apiserver has it.
func applyCRD(ctx context.Context, client dynamic.ResourceInterface, file string) (*unstructured.Unstructured, error) {
	raw, err := crds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	name, err := crdName(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	content := hex.EncodeToString(sum[:])
	found, err := client.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		found = nil
	case err != nil:
		return nil, err
	case found.GetAnnotations()[contentAnnotation] == content:
		return found, nil
	}
	crd := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &crd.Object); err != nil {
		return nil, err
	}
	if crd.GetName() != name {
		return nil, fmt.Errorf("expected a definition named %s", name)
	}
	notes := crd.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[contentAnnotation] = content
	crd.SetAnnotations(notes)
	// Not applied field by field: for schemas of this size that takes the apiserver longer than all the rest.
	if found == nil {
		return client.Create(ctx, crd, metav1.CreateOptions{FieldManager: fieldManager})
	}
	crd.SetResourceVersion(found.GetResourceVersion())
	return client.Update(ctx, crd, metav1.UpdateOptions{FieldManager: fieldManager})
}

// crdName is the name of the definition in a file called GROUP_PLURAL.json.
func crdName(file string) (string, error) {
	group, plural, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".json"), "_")
	if !ok {
		return "", errors.New("the file's name is not GROUP_PLURAL.json")
	}
	return plural + "." + group, nil
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
