package environment

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// Fields are the values of the downward API for one pod.
type Fields struct {
	Pod         *corev1.Pod
	Latest      func() *corev1.Pod // as it is now: its labels and annotations may change while it runs
	Addr        netip.Addr
	Allocatable corev1.ResourceList // of its node: the limits of a container without limits
}

// Field returns the value of a fieldRef.
func (f Fields) Field(path string) (string, error) {
	o := f.Latest()
	switch path {
	case "metadata.name":
		return o.Name, nil
	case "metadata.namespace":
		return o.Namespace, nil
	case "metadata.uid":
		return string(o.UID), nil
	case "metadata.labels":
		return quotedMap(o.Labels), nil
	case "metadata.annotations":
		return quotedMap(o.Annotations), nil
	case "spec.nodeName":
		return o.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return o.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return podnet.Node.String(), nil
	case "status.podIP", "status.podIPs":
		return f.Addr.String(), nil
	}
	for prefix, m := range map[string]map[string]string{"metadata.labels": o.Labels, "metadata.annotations": o.Annotations} {
		if rest, ok := strings.CutPrefix(path, prefix+"['"); ok {
			if key, ok := strings.CutSuffix(rest, "']"); ok {
				return m[key], nil
			}
		}
	}
	return "", fmt.Errorf("field %q is not known", path)
}

// quotedMap formats labels and annotations as the downward API does.
func quotedMap(m map[string]string) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(lines, "\n")
}

// Resource returns the value of a resourceFieldRef. c is the container that it stands in, or nil in a volume.
func (f Fields) Resource(c *corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	if ref.ContainerName != "" {
		if c = podspec.FindContainer(f.Pod.Spec.Containers, ref.ContainerName); c == nil {
			c = podspec.FindContainer(f.Pod.Spec.InitContainers, ref.ContainerName)
		}
	}
	if c == nil {
		return "", fmt.Errorf("container %q is not known", ref.ContainerName)
	}
	kind, name, ok := strings.Cut(ref.Resource, ".")
	list := c.Resources.Requests
	if kind == "limits" {
		list = c.Resources.Limits
	}
	if !ok || kind != "limits" && kind != "requests" {
		return "", fmt.Errorf("resource %q is not known", ref.Resource)
	}
	quantity, ok := list[corev1.ResourceName(name)]
	if !ok && kind == "limits" { // without a limit, the node is the limit
		quantity = f.Allocatable[corev1.ResourceName(name)]
	}
	return divide(quantity, ref.Divisor, name), nil
}

// divide rounds up, so that a small share never becomes none.
func divide(q, divisor resource.Quantity, name string) string {
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if name == string(corev1.ResourceCPU) {
		return strconv.FormatInt((q.MilliValue()+divisor.MilliValue()-1)/divisor.MilliValue(), 10)
	}
	d := max(divisor.Value(), 1)
	return strconv.FormatInt((q.Value()+d-1)/d, 10)
}
