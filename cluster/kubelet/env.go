package kubelet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// defaultPath is the search path of a container.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is a container's environment before it becomes a list.
type environment map[string]string

func (e environment) list() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		out = append(out, name+"="+e[name])
	}
	return out
}

// expand replaces $(NAME) by the variable's value, $$ by $; a reference to an
// unknown variable stays as it is.
func (e environment) expand(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		if s[0] == '$' {
			b.WriteByte('$')
			s = s[1:]
			continue
		}
		end := strings.IndexByte(s, ')')
		if s[0] != '(' || end < 0 {
			b.WriteByte('$')
			continue
		}
		if value, ok := e[s[1:end]]; ok {
			b.WriteString(value)
		} else {
			b.WriteString("$" + s[:end+1])
		}
		s = s[end+1:]
	}
}

// environmentOf gathers a container's environment from all its sources.
func (p *pod) environmentOf(c *corev1.Container) (environment, error) {
	env := environment{
		"PATH": defaultPath, "HOME": "/root", "HOSTNAME": hostnameOf(p.obj),
		"KUBERNETES_SERVICE_HOST": gatewayAddr.String(), "KUBERNETES_SERVICE_PORT": "443", "KUBERNETES_SERVICE_PORT_HTTPS": "443",
		"KUBERNETES_PORT": "tcp://" + gatewayAddr.String() + ":443",
		// Every pod runs as root of its own; images for MPI set these too.
		"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
	}
	for _, from := range c.EnvFrom {
		var data map[string][]byte
		var err error
		switch {
		case from.ConfigMapRef != nil:
			data, err = p.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			data, err = p.secret(from.SecretRef.Name, from.SecretRef.Optional)
		}
		if err != nil {
			return nil, err
		}
		for name, value := range data {
			env[from.Prefix+name] = string(value)
		}
	}
	for _, v := range c.Env {
		value, ok, err := p.variable(c, v, env)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s: %w", v.Name, err)
		}
		if ok {
			env[v.Name] = value
		}
	}
	return env, nil
}

// variable finds a variable's value; ok is false where its source is optional and not there.
func (p *pod) variable(c *corev1.Container, v corev1.EnvVar, env environment) (value string, ok bool, err error) {
	from := v.ValueFrom
	if from == nil {
		return env.expand(v.Value), true, nil
	}
	var data map[string][]byte
	var key string
	var optional *bool
	switch {
	case from.FieldRef != nil:
		value, err := p.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err := p.resourceField(c, from.ResourceFieldRef)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		key, optional = from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional
		data, err = p.configMap(from.ConfigMapKeyRef.Name, optional)
	case from.SecretKeyRef != nil:
		key, optional = from.SecretKeyRef.Key, from.SecretKeyRef.Optional
		data, err = p.secret(from.SecretKeyRef.Name, optional)
	default:
		return "", false, fmt.Errorf("its source is of a kind that the embedded cluster does not know")
	}
	if err != nil {
		return "", false, err
	}
	b, ok := data[key]
	if !ok && (optional == nil || !*optional) {
		return "", false, missing("key %q", key)
	}
	return string(b), ok, nil
}

// field is the value of a fieldRef.
func (p *pod) field(path string) (string, error) {
	o := p.obj
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
		return NodeName, nil
	case "spec.serviceAccountName":
		return o.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return hostIP, nil
	case "status.podIP", "status.podIPs":
		return p.addr.String(), nil
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

// quotedMap is the form in which the downward API writes labels and annotations.
func quotedMap(m map[string]string) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(lines, "\n")
}

func (p *pod) resourceField(c *corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	if ref.ContainerName != "" {
		c = nil
		for i, other := range append(slices.Clone(p.obj.Spec.Containers), p.obj.Spec.InitContainers...) {
			if other.Name == ref.ContainerName {
				all := append(slices.Clone(p.obj.Spec.Containers), p.obj.Spec.InitContainers...)
				c = &all[i]
			}
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
	if !ok { // without a limit, the node is the limit
		quantity = capacity[corev1.ResourceName(name)]
	}
	return divide(quantity, ref.Divisor, name), nil
}

// divide rounds up, so that a program never takes a small share for none.
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

// hostnameOf is the pod's host name: at most 63 characters, as Linux and Kubernetes have it.
func hostnameOf(o *corev1.Pod) string {
	name := cmp.Or(o.Spec.Hostname, o.Name)
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "-.")
	}
	return name
}
