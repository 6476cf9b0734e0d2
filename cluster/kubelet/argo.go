package kubelet

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/emissary"
)

// Names that Argo gives to what it adds to a step's pod.
const (
	argoInit     = "init"
	argoWait     = "wait"
	argoMain     = "main"
	argoVolume   = "var-run-argo"
	argoStaging  = "argo-staging" // the volume by which `init` hands over a script
	argoTemplate = "ARGO_TEMPLATE"
	argoProgram  = emissary.Folder + "/argoexec"
)

// executorAnnotation of a pod set to executorArgo leaves the whole pod to Argo's own executor.
const (
	executorAnnotation = "argosy.dev/executor"
	executorArgo       = "argo"
)

// argoStep is what a pod of an Argo workflow says about itself. Argo's executor
// starts three times for every pod and looks each second for what it waits for,
// which takes longer than most steps. So the kubelet plays its parts where a
// step is plain, has argosy-podinit play the emissary, and starts the executor
// by commands that are told instead of looking (see cmd/argoexec).
type argoStep struct {
	tmpl argoTmpl
	raw  string            // the template as Argo's executor reads it
	env  map[string]string // of the container `wait`
	init bool              // the kubelet plays `init`
	wait bool              // the kubelet plays `wait`
}

// argoTmpl is the part of a template that decides.
type argoTmpl struct {
	Name   string `json:"name"`
	Inputs struct {
		Artifacts []struct {
			Path string `json:"path"`
		} `json:"artifacts"`
	} `json:"inputs"`
	Outputs struct {
		Parameters []argoParameter   `json:"parameters"`
		Artifacts  []json.RawMessage `json:"artifacts"`
	} `json:"outputs"`
	ArchiveLocation *struct {
		ArchiveLogs bool `json:"archiveLogs"`
	} `json:"archiveLocation"`
	Container    *corev1.Container `json:"container"`
	ContainerSet json.RawMessage   `json:"containerSet"`
	Script       *argoScript       `json:"script"`
}

type argoScript struct {
	corev1.Container
	Source string `json:"source"`
}

// argoParameter is an output parameter. It is reported with all that the template says of it.
type argoParameter struct {
	fields   map[string]any
	name     string
	path     string
	fallback *string
}

func (a *argoParameter) UnmarshalJSON(data []byte) error {
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

func (a *argoParameter) MarshalJSON() ([]byte, error) { return json.Marshal(a.fields) }

func (a *argoParameter) set(value string) { a.fields["value"] = value }

// argoStepOf reads a pod that Argo made; nil for any other, and for what is to be left to Argo's own executor.
func argoStepOf(obj *corev1.Pod) *argoStep {
	initC, waitC := findContainer(obj.Spec.InitContainers, argoInit), findContainer(obj.Spec.Containers, argoWait)
	if initC == nil || obj.Labels["workflows.argoproj.io/workflow"] == "" || programOf(initC.Image) != "argoexec" ||
		obj.Annotations[executorAnnotation] == executorArgo ||
		!slices.ContainsFunc(initC.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == argoVolume }) {
		return nil
	}
	// As Argo's executor would find it: a variable's value is expanded like any other, also where it is a script's.
	s := &argoStep{raw: expandWith(literal(initC, argoTemplate), func(string) (string, bool) { return "", false })}
	if json.Unmarshal([]byte(s.raw), &s.tmpl) != nil { // too large for the environment, Argo put it elsewhere
		return nil
	}
	t := &s.tmpl
	command := t.Container != nil || t.Script != nil // and no container set, resource, data or plugin
	// A pod that somebody else made may lack the volume for the script.
	staged := t.Script == nil || slices.ContainsFunc(obj.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == argoStaging })
	s.init = len(t.Inputs.Artifacts) == 0 && (command || t.ContainerSet != nil) && staged
	if waitC != nil {
		s.env = map[string]string{}
		for _, e := range waitC.Env {
			s.env[e.Name] = e.Value
		}
		archived := t.ArchiveLocation != nil && t.ArchiveLocation.ArchiveLogs
		// A deadline is watched from inside the pod.
		s.wait = command && len(t.Outputs.Artifacts) == 0 && !archived && noDeadline(s.env["ARGO_DEADLINE"]) && !s.outputsOnVolume()
	}
	return s
}

// noDeadline says whether Argo wrote the zero time.
func noDeadline(s string) bool { return s == "" || strings.HasPrefix(s, "0001-01-01") }

// hasOutputs says whether `wait` has more to tell than that the step is over.
func (s *argoStep) hasOutputs() bool {
	return len(s.tmpl.Outputs.Parameters) > 0 || s.env["ARGO_INCLUDE_SCRIPT_OUTPUT"] == "true"
}

// quiet says whether nothing of the step is told but how it ended.
func (s *argoStep) quiet() bool {
	return s != nil && s.wait && !s.hasOutputs() // which implies one command, without artifacts and archived logs
}

// plain says whether the emissary of a container has nothing to learn from the template.
func (s *argoStep) plain(c *corev1.Container) bool { return s.quiet() && c.Name == argoMain }

// outputsOnVolume says whether a parameter is read from a volume or from an input artifact, which Argo's executor finds
// through its own mounts.
func (s *argoStep) outputsOnVolume() bool {
	var places []string
	for _, a := range s.tmpl.Inputs.Artifacts {
		places = append(places, a.Path)
	}
	mounts := []corev1.VolumeMount{}
	if s.tmpl.Container != nil {
		mounts = s.tmpl.Container.VolumeMounts
	} else if s.tmpl.Script != nil {
		mounts = s.tmpl.Script.VolumeMounts
	}
	for _, m := range mounts {
		places = append(places, strings.TrimRight(m.MountPath, "/"))
	}
	return slices.ContainsFunc(s.tmpl.Outputs.Parameters, func(p argoParameter) bool {
		return p.path != "" && slices.ContainsFunc(places, func(at string) bool { return p.path == at || strings.HasPrefix(p.path, at+"/") })
	})
}

// standIn returns what does a container's work in the kubelet itself; nil when it is to be started.
func (s *argoStep) standIn(p *pod, c *corev1.Container) standInFunc {
	switch {
	case s == nil || programOf(c.Image) != "argoexec":
		return nil
	case c.Name == argoInit && s.init:
		return p.argoInit
	case c.Name == argoWait && s.wait:
		return p.argoWait
	}
	return nil
}

// plays says whether the kubelet itself plays a container of the pod.
func (p *pod) plays(name string) bool {
	c := findContainer(p.obj.Spec.Containers, name)
	return c != nil && p.argo.standIn(p, c) != nil
}

// plainEmissary says whether argosy-podinit plays the emissary in a container. Only Argo's own knows how to pause it for a debugger.
func (s *argoStep) plainEmissary(c *corev1.Container) bool {
	return s != nil && len(c.Command) > 1 && c.Command[0] == argoProgram && c.Command[1] == "emissary" &&
		!slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return strings.HasPrefix(e.Name, "ARGO_DEBUG_PAUSE") })
}

// quick replaces the commands of Argo's executor that look each second by those that are told.
func (s *argoStep) quick(c *corev1.Container, args []string) {
	if s == nil || len(args) < 2 || args[0] != "argoexec" || programOf(c.Image) != "argoexec" {
		return
	}
	if (c.Name == argoInit || c.Name == argoWait) && args[1] == c.Name {
		args[1] = "quick-" + args[1]
	}
}

// mounts shows Argo's executor where its own `init` would have copied it: it is large, and the copy slow.
func (s *argoStep) mounts(p *pod) []container.Mount {
	if s == nil {
		return nil
	}
	return []container.Mount{{Source: p.k.helper("argoexec"), Target: argoProgram, ReadOnly: true, Optional: true}}
}

func findContainer(list []corev1.Container, name string) *corev1.Container {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

func literal(c *corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}
