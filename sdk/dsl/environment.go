package dsl

import (
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Variables sets environment variables, like Container.Env, as an option for defaults and for steps of other packages.
func Variables(env Env) StepOption {
	return stepOption(func(s *Step) { s.variables(env) })
}

// FieldRef returns a field of the step's pod, such as metadata.name or metadata.annotations['key'], for use as the
// whole value of an environment variable.
func FieldRef(path string) Value[string] {
	return valueOf[string](reference(ref{source: &graph.EnvVar{FieldRef: path}}))
}

// Secret returns an entry of a secret, for use as the whole value of an environment variable. It never becomes part
// of the workflow.
func Secret(name, key string) Value[string] {
	if !objectName.MatchString(name) {
		return valueOf[string](faulty(caller(), "dsl.Secret: %s", badName(name)))
	}
	return valueOf[string](reference(ref{source: &graph.EnvVar{Secret: &graph.KeyRef{Name: name, Key: key}}}))
}

// SecretOf returns the name and the key of an entry if Secret returned v. Packages that build steps use it to pass the entry to other pods.
func SecretOf(v AnyValue) (name, key string, ok bool) {
	if v == nil || !v.IsSet() {
		return "", "", false
	}
	t := v.recorded()
	if len(t.faults) > 0 || len(t.parts) != 1 || t.parts[0].ref == nil || t.parts[0].ref.source == nil || t.parts[0].ref.source.Secret == nil {
		return "", "", false
	}
	s := t.parts[0].ref.source.Secret
	return s.Name, s.Key, true
}

// ConfigMap returns an entry of a config map, for use as the whole value of an environment variable.
func ConfigMap(name, key string) Value[string] {
	if !objectName.MatchString(name) {
		return valueOf[string](faulty(caller(), "dsl.ConfigMap: %s", badName(name)))
	}
	return valueOf[string](reference(ref{source: &graph.EnvVar{ConfigMap: &graph.KeyRef{Name: name, Key: key}}}))
}

// EnvOf returns the value of the step's own environment variable at its start, for use in Command, Args and Env. It is Kubernetes' $(NAME);
// written as plain text, $(NAME) is not expanded.
func EnvOf(name string) Value[string] {
	if !envName.MatchString(name) {
		return valueOf[string](faulty(caller(), "dsl.EnvOf(%q): this is not a name of an environment variable: use letters, digits and _", name))
	}
	return valueOf[string](reference(ref{Ref: graph.Ref{Env: name}}))
}

// SecretEnv makes every entry of a secret an environment variable.
func SecretEnv(name string) StepOption {
	return envFrom("SecretEnv", name, graph.EnvFrom{Secret: name})
}

// ConfigMapEnv makes every entry of a config map an environment variable.
func ConfigMapEnv(name string) StepOption {
	return envFrom("ConfigMapEnv", name, graph.EnvFrom{ConfigMap: name})
}

func envFrom(what, name string, from graph.EnvFrom) StepOption {
	return stepOption(func(s *Step) {
		if !objectName.MatchString(name) {
			s.Fault("%s: %s", what, badName(name))
		}
		if !slices.Contains(s.box.EnvFrom, from) {
			s.box.EnvFrom = append(s.box.EnvFrom, from)
		}
	})
}
