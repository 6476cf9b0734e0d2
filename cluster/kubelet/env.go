package kubelet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
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
	return expandWith(s, func(name string) (string, bool) {
		value, ok := e[name]
		return value, ok
	})
}

func expandWith(s string, value func(string) (string, bool)) string {
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
		if value, ok := value(s[1:end]); ok {
			b.WriteString(value)
		} else {
			b.WriteString("$" + s[:end+1])
		}
		s = s[end+1:]
	}
}

// mustExpand is expand for what makes no sense with a reference left in it.
func (e environment) mustExpand(s string) (string, error) {
	var unknown []string
	text := expandWith(s, func(name string) (string, bool) {
		value, ok := e[name]
		if !ok {
			unknown = append(unknown, name)
		}
		return value, ok
	})
	if len(unknown) > 0 {
		return "", fmt.Errorf("missing value for %q", unknown[0])
	}
	return text, nil
}

// environmentOf gathers a container's environment from all its sources.
func (p *pod) environmentOf(c *corev1.Container) (environment, error) {
	env := environment{
		"PATH": defaultPath, "HOSTNAME": hostnameOf(p.obj),
		// Every pod runs as root of its own; images for MPI set these too.
		"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
	}
	if img := p.imageOf(c.Name); img != nil {
		for _, e := range img.config.Env {
			if name, value, ok := strings.Cut(e, "="); ok {
				env[name] = value
			}
		}
	}
	if err := p.serviceVariables(env); err != nil {
		return nil, err
	}
	for _, from := range c.EnvFrom {
		if err := p.variablesFrom(from, env); err != nil {
			return nil, err
		}
	}
	p.showGPUs(c, env)
	for _, v := range c.Env {
		value, ok, err := p.variable(c, v, env)
		if err != nil {
			return nil, err
		}
		if ok {
			env[v.Name] = value
		}
	}
	return env, nil
}

// variablesFrom adds all keys of an object that can be names of variables.
func (p *pod) variablesFrom(from corev1.EnvFromSource, env environment) error {
	var data map[string][]byte
	var err error
	var source string
	switch {
	case from.ConfigMapRef != nil:
		source = fmt.Sprintf("ConfigMap %s/%s", p.obj.Namespace, from.ConfigMapRef.Name)
		data, err = p.configMap(p.starting, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		source = fmt.Sprintf("Secret %s/%s", p.obj.Namespace, from.SecretRef.Name)
		data, err = p.secret(p.starting, from.SecretRef.Name, from.SecretRef.Optional)
	}
	if err != nil {
		return err
	}
	var skipped []string
	for key, value := range data {
		if name := from.Prefix + key; len(validation.IsRelaxedEnvVarName(name)) > 0 {
			skipped = append(skipped, name)
		} else {
			env[name] = string(value)
		}
	}
	if len(skipped) > 0 {
		slices.Sort(skipped)
		p.warnOnce("InvalidEnvironmentVariableNames", "Keys [%s] from the EnvFrom %s were skipped since they are considered invalid environment variable names.",
			strings.Join(skipped, ", "), source)
	}
	return nil
}

// variable finds a variable's value; ok is false where its source is optional and not there.
func (p *pod) variable(c *corev1.Container, v corev1.EnvVar, env environment) (value string, ok bool, err error) {
	from := v.ValueFrom
	if from == nil {
		return env.expand(v.Value), true, nil
	}
	var data map[string][]byte
	var key, source string
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
		source = fmt.Sprintf("ConfigMap %s/%s", p.obj.Namespace, from.ConfigMapKeyRef.Name)
		data, err = p.configMap(p.starting, from.ConfigMapKeyRef.Name, optional)
	case from.SecretKeyRef != nil:
		key, optional = from.SecretKeyRef.Key, from.SecretKeyRef.Optional
		source = fmt.Sprintf("Secret %s/%s", p.obj.Namespace, from.SecretKeyRef.Name)
		data, err = p.secret(p.starting, from.SecretKeyRef.Name, optional)
	default:
		return "", false, fmt.Errorf("the source of environment variable %s is of a kind that the embedded cluster does not know", v.Name)
	}
	if err != nil {
		return "", false, err
	}
	b, ok := data[key]
	if !ok && (optional == nil || !*optional) {
		return "", false, unusable("couldn't find key %s in %s", key, source)
	}
	return string(b), ok, nil
}

// field is the value of a fieldRef.
func (p *pod) field(path string) (string, error) {
	o := p.latest()
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

// latest is the pod's object as it is now: its labels and annotations may change while it runs.
func (p *pod) latest() *corev1.Pod {
	if o, err := p.k.pods.Pods(p.obj.Namespace).Get(p.obj.Name); err == nil && o.UID == p.obj.UID && !finished(o) {
		return o
	}
	return p.obj
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
		if c = findContainer(p.obj.Spec.Containers, ref.ContainerName); c == nil {
			c = findContainer(p.obj.Spec.InitContainers, ref.ContainerName)
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
		quantity = p.room().node.Allocatable[corev1.ResourceName(name)]
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
