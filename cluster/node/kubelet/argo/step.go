// Package argo does the work of Argo's executor for plain steps of workflows, which saves three slow starts in each pod.
package argo

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/emissary"
)

// Names that Argo gives to what it adds to a step's pod.
const (
	initName         = "init"
	Waiter           = "wait"
	Main             = "main"
	Volume           = "var-run-argo"
	staging          = "argo-staging" // the volume by which `init` hands over a script
	templateVariable = "ARGO_TEMPLATE"
	program          = emissary.Folder + "/argoexec"
)

// executorAnnotation of a pod set to executorArgo leaves the whole pod to Argo's own executor.
const (
	executorAnnotation = "argosy.dev/executor"
	executorArgo       = "argo"
)

// argoStep is a step of an Argo workflow, read from its pod. Argo's executor starts three times in every pod, and polls once a second, which
// takes longer than most steps. For a plain step the kubelet does the work of `init` and `wait`, and argosy-podinit that of the emissary.
// For others it starts the executor with commands that are notified instead of polling (see cmd/argoexec).
type Step struct {
	Template  template
	raw       string            // the template as Argo's executor reads it
	env       map[string]string // of the container `wait`
	playsInit bool              // the kubelet does the work of `init`
	Wait      bool              // the kubelet does the work of `wait`
}

// argoTmpl is the part of a template that decides.
type template struct {
	Name   string `json:"name"`
	Inputs struct {
		Artifacts []struct {
			Path string `json:"path"`
		} `json:"artifacts"`
	} `json:"inputs"`
	Outputs struct {
		Parameters []parameter       `json:"parameters"`
		Artifacts  []json.RawMessage `json:"artifacts"`
	} `json:"outputs"`
	ArchiveLocation *struct {
		ArchiveLogs bool `json:"archiveLogs"`
	} `json:"archiveLocation"`
	Container    *corev1.Container `json:"container"`
	ContainerSet json.RawMessage   `json:"containerSet"`
	Script       *script           `json:"script"`
}

type script struct {
	corev1.Container
	Source string `json:"source"`
}

// argoParameter is an output parameter. Its report repeats all its fields in the template.
type parameter struct {
	fields   map[string]any
	name     string
	path     string
	fallback *string
}

func (a *parameter) UnmarshalJSON(data []byte) error {
	var p struct {
		Name      string `json:"name"`
		ValueFrom *struct {
			Path    string          `json:"path"`
			Default json.RawMessage `json:"default"`
		} `json:"valueFrom"`
	}
	if err := errors.Join(json.Unmarshal(data, &a.fields), json.Unmarshal(data, &p)); err != nil {
		return err
	}
	a.name = p.Name
	if p.ValueFrom == nil {
		return nil
	}
	a.path = p.ValueFrom.Path
	if d := p.ValueFrom.Default; d != nil {
		text := string(d) // Argo takes numbers and truth values as their text
		if d[0] == '"' {
			if err := json.Unmarshal(d, &text); err != nil {
				return err
			}
		}
		a.fallback = &text
	}
	return nil
}

func (a *parameter) MarshalJSON() ([]byte, error) { return json.Marshal(a.fields) }

func (a *parameter) set(value string) { a.fields["value"] = value }

// argoStepOf reads the step of a pod. It returns nil for a pod that Argo did not make, and for one that is left to Argo's own executor.
func StepOf(obj *corev1.Pod) *Step {
	initC, waitC := podspec.FindContainer(obj.Spec.InitContainers, initName), podspec.FindContainer(obj.Spec.Containers, Waiter)
	if initC == nil || obj.Labels["workflows.argoproj.io/workflow"] == "" || podspec.Program(initC.Image) != "argoexec" ||
		obj.Annotations[executorAnnotation] == executorArgo ||
		!slices.ContainsFunc(initC.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == Volume }) {
		return nil
	}
	// As Argo's executor would find it: a variable's value is expanded like any other, also where it is a script's.
	s := &Step{raw: environment.ExpandWith(literal(initC, templateVariable), func(string) (string, bool) { return "", false })}
	if json.Unmarshal([]byte(s.raw), &s.Template) != nil { // too large for the environment, Argo put it elsewhere
		return nil
	}
	t := &s.Template
	command := t.Container != nil || t.Script != nil // and no container set, resource, data or plugin
	// A pod made by another controller than Argo's may lack the volume for the script.
	staged := t.Script == nil || slices.ContainsFunc(obj.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == staging })
	s.playsInit = len(t.Inputs.Artifacts) == 0 && (command || t.ContainerSet != nil) && staged
	if waitC != nil {
		s.env = map[string]string{}
		for _, e := range waitC.Env {
			s.env[e.Name] = e.Value
		}
		archived := t.ArchiveLocation != nil && t.ArchiveLocation.ArchiveLogs
		// A deadline is watched from inside the pod.
		s.Wait = command && len(t.Outputs.Artifacts) == 0 && !archived && noDeadline(s.env["ARGO_DEADLINE"]) && !s.outputsOnVolume()
	}
	return s
}

// noDeadline says whether Argo wrote the zero time.
func noDeadline(s string) bool { return s == "" || strings.HasPrefix(s, "0001-01-01") }

// hasOutputs says whether `wait` reports outputs.
func (s *Step) hasOutputs() bool {
	return len(s.Template.Outputs.Parameters) > 0 || s.env["ARGO_INCLUDE_SCRIPT_OUTPUT"] == "true"
}

// quiet says whether a step reports nothing but its end.
func (s *Step) Quiet() bool {
	return s != nil && s.Wait && !s.hasOutputs() // which implies one command, without artifacts and archived logs
}

// plain says whether the emissary of a container needs nothing from the template.
func (s *Step) Plain(c *corev1.Container) bool { return s.Quiet() && c.Name == Main }

// outputsOnVolume says whether a parameter is read from a volume or an input artifact. Argo's executor finds those through its own mounts.
func (s *Step) outputsOnVolume() bool {
	var places []string
	for _, a := range s.Template.Inputs.Artifacts {
		places = append(places, a.Path)
	}
	mounts := []corev1.VolumeMount{}
	if s.Template.Container != nil {
		mounts = s.Template.Container.VolumeMounts
	} else if s.Template.Script != nil {
		mounts = s.Template.Script.VolumeMounts
	}
	for _, m := range mounts {
		places = append(places, strings.TrimRight(m.MountPath, "/"))
	}
	return slices.ContainsFunc(s.Template.Outputs.Parameters, func(p parameter) bool {
		return p.path != "" && slices.ContainsFunc(places, func(at string) bool { return p.path == at || strings.HasPrefix(p.path, at+"/") })
	})
}

// plays says whether the kubelet itself does the work of a container.
func (s *Step) Plays(c *corev1.Container) bool {
	if s == nil || podspec.Program(c.Image) != "argoexec" {
		return false
	}
	return c.Name == initName && s.playsInit || c.Name == Waiter && s.Wait
}

// plainEmissary says whether argosy-podinit does the work of the emissary in a container. Only Argo's own can pause for a debugger.
func (s *Step) PlainEmissary(c *corev1.Container) bool {
	return s != nil && len(c.Command) > 1 && c.Command[0] == program && c.Command[1] == "emissary" &&
		!slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return strings.HasPrefix(e.Name, "ARGO_DEBUG_PAUSE") })
}

// quick replaces the commands of the executor that poll by those that are notified.
func (s *Step) Quick(c *corev1.Container, args []string) {
	if s == nil || len(args) < 2 || args[0] != "argoexec" || podspec.Program(c.Image) != "argoexec" {
		return
	}
	if (c.Name == initName || c.Name == Waiter) && args[1] == c.Name {
		args[1] = "quick-" + args[1]
	}
}

// mounts shows the executor's program where its own `init` would have copied it. The program is large, and the copy slow.
func (s *Step) Mounts(program string) []container.Mount {
	if s == nil {
		return nil
	}
	return []container.Mount{{Source: program, Target: program, ReadOnly: true, Optional: true}}
}

func literal(c *corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}
