package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/cluster"
)

// components are what a cluster needs for runs: their keys in the ConfigMap of an embedded cluster, and the names of their images elsewhere,
// without registry and owner, because mirrors change these.
var components = []struct{ name, key, image string }{
	{"Argo Workflows", "argo-workflows", "workflow-controller"},
	{"MPI Operator", "mpi-operator", "mpi-operator"},
	{"Training Operator", "training-operator", "training-operator"},
	{"Kubeflow Trainer", "trainer", "trainer-controller-manager"},
	{"Volcano", "volcano", "vc-scheduler"},
}

// versionsName is the ConfigMap in which an embedded cluster publishes its versions.
const versionsName = "cluster-versions"

// keepVersions is how long versions are taken for those of now; lists of nodes are asked for every few seconds.
const keepVersions = 10 * time.Minute

// versions remembers the versions of a cluster.
type versions struct {
	sync.Mutex
	known  []cluster.Version
	readAt time.Time
}

// versionsNow returns the versions that the cluster tells; it omits those that the server may not read.
func (v *View) versionsNow(ctx context.Context) []cluster.Version {
	v.versions.Lock()
	defer v.versions.Unlock()
	if !v.versions.readAt.IsZero() && time.Since(v.versions.readAt) < keepVersions {
		return v.versions.known
	}
	known, err := v.readVersions(ctx)
	if err != nil {
		v.log.Debug("versions of the cluster are not known", "error", err)
		return known
	}
	v.versions.known, v.versions.readAt = known, time.Now()
	return known
}

func (v *View) readVersions(ctx context.Context) (known []cluster.Version, err error) {
	kubernetes, err := v.kube.Discovery().ServerVersion()
	if err != nil {
		return nil, err
	}
	known = append(known, cluster.Version{Name: "Kubernetes", Version: kubernetes.GitVersion})
	published := map[string]string{}
	config, err := v.kube.CoreV1().ConfigMaps(metav1.NamespacePublic).Get(ctx, versionsName, metav1.GetOptions{})
	switch {
	case err == nil:
		published = config.Data
	case !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err):
		return known, err
	}
	deployed, err := v.deployed(ctx)
	if err != nil && !apierrors.IsForbidden(err) {
		return known, err
	}
	for _, c := range components {
		found := deployed[c.image]
		if version := published[c.key]; version != "" {
			found = []string{version}
		}
		if len(found) > 0 {
			slices.Sort(found)
			known = append(known, cluster.Version{Name: c.name, Version: strings.Join(slices.Compact(found), ", ")})
		}
	}
	return known, nil
}

// deployed returns the versions of the components' images in Deployments that have pods.
func (v *View) deployed(ctx context.Context) (map[string][]string, error) {
	found := map[string][]string{}
	for o := (metav1.ListOptions{Limit: listPage}); ; {
		page, err := v.kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, d := range page.Items {
			if d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
				continue
			}
			for _, c := range d.Spec.Template.Spec.Containers {
				if name, version := imageVersion(c.Image); version != "" {
					found[name] = append(found[name], version)
				}
			}
		}
		if o.Continue = page.Continue; o.Continue == "" {
			return found, nil
		}
	}
}

// versionTag matches tags that are versions, unlike latest.
var versionTag = regexp.MustCompile(`^v?\d+\.\d`)

// imageVersion splits an image into its name, without what is in front, and its version; that is empty where the tag tells none.
func imageVersion(image string) (name, version string) {
	image, _, _ = strings.Cut(image, "@")
	name, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if versionTag.MatchString(tag) {
		return name, tag
	}
	return name, ""
}
