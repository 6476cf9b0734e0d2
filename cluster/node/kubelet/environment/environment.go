// Package environment makes the environment of a container from its spec: variables of its own, of ConfigMaps and Secrets, of Services, and
// of the downward API.
package environment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/etc"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/objects"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// defaultPath is the search path of a container whose image sets none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Variables are a container's environment.
type Variables map[string]string

// List returns the variables as NAME=VALUE, sorted.
func (e Variables) List() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		out = append(out, name+"="+e[name])
	}
	return out
}

// Expand replaces $(NAME) by the variable's value, $$ by $; a reference to an
// unknown variable stays as it is.
func (e Variables) Expand(s string) string {
	return ExpandWith(s, func(name string) (string, bool) {
		value, ok := e[name]
		return value, ok
	})
}

// ExpandWith is Expand with the values of a function.
func ExpandWith(s string, value func(string) (string, bool)) string {
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

// MustExpand is Expand, and fails for an unknown variable.
func (e Variables) MustExpand(s string) (string, error) {
	var unknown []string
	text := ExpandWith(s, func(name string) (string, bool) {
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

// Source is where the variables of a pod's containers come from.
type Source struct {
	Pod      *corev1.Pod
	Objects  objects.Reader
	Fields   Fields
	Services Services
	Warn     func(reason, format string, args ...any)
}

// Of returns the environment of a container. image holds the variables of its image, devices those for its GPUs.
func (s Source) Of(ctx context.Context, c *corev1.Container, image []string, devices map[string]string) (Variables, error) {
	env := Variables{
		"PATH": defaultPath, "HOSTNAME": etc.Hostname(s.Pod),
		// Every pod runs as root of its own; images for MPI set these too.
		"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
	}
	if c.TTY {
		env["TERM"] = "xterm" // as container runtimes do
	}
	for _, e := range image {
		if name, value, ok := strings.Cut(e, "="); ok {
			env[name] = value
		}
	}
	if err := s.addServices(ctx, env); err != nil {
		return nil, err
	}
	for _, from := range c.EnvFrom {
		if err := s.addAll(ctx, from, env); err != nil {
			return nil, err
		}
	}
	maps.Copy(env, devices)
	for _, v := range c.Env {
		value, ok, err := s.variable(ctx, c, v, env)
		if err != nil {
			return nil, err
		}
		if ok {
			env[v.Name] = value
		}
	}
	return env, nil
}

// addAll adds all keys of an object that can be names of variables.
func (s Source) addAll(ctx context.Context, from corev1.EnvFromSource, env Variables) error {
	var data map[string][]byte
	var err error
	var source string
	switch {
	case from.ConfigMapRef != nil:
		source = fmt.Sprintf("ConfigMap %s/%s", s.Pod.Namespace, from.ConfigMapRef.Name)
		data, err = s.Objects.ConfigMap(ctx, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		source = fmt.Sprintf("Secret %s/%s", s.Pod.Namespace, from.SecretRef.Name)
		data, err = s.Objects.Secret(ctx, from.SecretRef.Name, from.SecretRef.Optional)
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
		s.Warn("InvalidEnvironmentVariableNames", "Keys [%s] from the EnvFrom %s were skipped since they are considered invalid environment variable names.",
			strings.Join(skipped, ", "), source)
	}
	return nil
}

// variable returns a variable's value. ok is false if its source is optional and does not exist.
func (s Source) variable(ctx context.Context, c *corev1.Container, v corev1.EnvVar, env Variables) (value string, ok bool, err error) {
	from := v.ValueFrom
	if from == nil {
		return env.Expand(v.Value), true, nil
	}
	var data map[string][]byte
	var key, source string
	var optional *bool
	switch {
	case from.FieldRef != nil:
		value, err := s.Fields.Field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err := s.Fields.Resource(c, from.ResourceFieldRef)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		key, optional = from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional
		source = fmt.Sprintf("ConfigMap %s/%s", s.Pod.Namespace, from.ConfigMapKeyRef.Name)
		data, err = s.Objects.ConfigMap(ctx, from.ConfigMapKeyRef.Name, optional)
	case from.SecretKeyRef != nil:
		key, optional = from.SecretKeyRef.Key, from.SecretKeyRef.Optional
		source = fmt.Sprintf("Secret %s/%s", s.Pod.Namespace, from.SecretKeyRef.Name)
		data, err = s.Objects.Secret(ctx, from.SecretKeyRef.Name, optional)
	default:
		return "", false, fmt.Errorf("the source of environment variable %s is of a kind that the embedded cluster does not know", v.Name)
	}
	if err != nil {
		return "", false, err
	}
	b, ok := data[key]
	if !ok && (optional == nil || !*optional) {
		return "", false, podspec.Unusable("couldn't find key %s in %s", key, source)
	}
	return string(b), ok, nil
}
