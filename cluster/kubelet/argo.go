package kubelet

import (
	"encoding/json"
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
	argoTemplate = "ARGO_TEMPLATE"
	argoProgram  = emissary.Folder + "/argoexec"
)

// argoStep is what a pod of an Argo workflow says about itself. Where a step is
// plain, the kubelet plays the parts of Argo's executor: starting that program
// three times for every pod takes longer than most steps. Whatever is not
// plain is left to the real one.
type argoStep struct {
	tmpl   argoTmpl
	raw    string            // the template as Argo wrote it
	env    map[string]string // of the container `wait`
	init   bool              // the kubelet plays `init`
	wait   bool              // the kubelet plays `wait`
	plain  bool              // argosy-podinit plays the emissary in `main`
	binary bool              // the real emissary is needed, and nobody copies it into place
}

// argoTmpl is the part of a template that decides.
type argoTmpl struct {
	Inputs struct {
		Artifacts []json.RawMessage `json:"artifacts"`
	} `json:"inputs"`
	Outputs struct {
		Parameters []argoParameter   `json:"parameters"`
		Artifacts  []json.RawMessage `json:"artifacts"`
	} `json:"outputs"`
	ArchiveLocation *struct {
		ArchiveLogs *bool `json:"archiveLogs"`
	} `json:"archiveLocation"`
	Container    *corev1.Container `json:"container"`
	ContainerSet json.RawMessage   `json:"containerSet"`
	Script       json.RawMessage   `json:"script"`
	Resource     json.RawMessage   `json:"resource"`
	Data         json.RawMessage   `json:"data"`
	HTTP         json.RawMessage   `json:"http"`
	Plugin       json.RawMessage   `json:"plugin"`
	Sidecars     []json.RawMessage `json:"sidecars"`
	InitCtrs     []json.RawMessage `json:"initContainers"`
}

type argoParameter struct {
	Name      string          `json:"name"`
	ValueFrom json.RawMessage `json:"valueFrom,omitempty"`
	Value     *string         `json:"value,omitempty"`

	path     string
	fallback *string
}

// argoStepOf reads a pod that Argo made; nil for any other.
func argoStepOf(obj *corev1.Pod) *argoStep {
	initC, waitC, main := findContainer(obj.Spec.InitContainers, argoInit), findContainer(obj.Spec.Containers, argoWait), findContainer(obj.Spec.Containers, argoMain)
	if initC == nil || obj.Labels["workflows.argoproj.io/workflow"] == "" || programOf(initC.Image) != "argoexec" {
		return nil
	}
	s := &argoStep{raw: literal(initC, argoTemplate)}
	if json.Unmarshal([]byte(s.raw), &s.tmpl) != nil { // too large for the environment, Argo put it elsewhere
		return nil
	}
	t := &s.tmpl
	readable := s.readParameters()
	s.init = len(t.Inputs.Artifacts) == 0 && t.Script == nil && t.Resource == nil && t.Data == nil && t.Plugin == nil &&
		slices.ContainsFunc(initC.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == argoVolume })
	simple := readable && t.Container != nil && t.ContainerSet == nil && len(t.Sidecars) == 0 && len(t.Outputs.Artifacts) == 0 &&
		(t.ArchiveLocation == nil || t.ArchiveLocation.ArchiveLogs == nil || !*t.ArchiveLocation.ArchiveLogs) && main != nil && len(obj.Spec.Containers) == 2
	s.plain = simple && s.init && !slices.ContainsFunc(main.Env, func(e corev1.EnvVar) bool { return strings.HasPrefix(e.Name, "ARGO_DEBUG_PAUSE") })
	if simple && waitC != nil && !s.outputsOnVolume() {
		s.env = map[string]string{}
		for _, e := range waitC.Env {
			s.env[e.Name] = e.Value
		}
		// A deadline is watched from inside the pod.
		s.wait = s.plain && noDeadline(s.env["ARGO_DEADLINE"])
	}
	s.binary = s.init
	return s
}

// noDeadline says whether Argo wrote the zero time.
func noDeadline(s string) bool { return s == "" || strings.HasPrefix(s, "0001-01-01") }

// readParameters reads where output parameters come from; false means that the
// real executor must deal with them.
func (s *argoStep) readParameters() bool {
	for i := range s.tmpl.Outputs.Parameters {
		p := &s.tmpl.Outputs.Parameters[i]
		var from struct {
			Path    string          `json:"path"`
			Default json.RawMessage `json:"default"`
		}
		if p.ValueFrom == nil {
			continue
		}
		if json.Unmarshal(p.ValueFrom, &from) != nil {
			return false
		}
		p.path = from.Path
		if from.Default != nil {
			var text string
			if json.Unmarshal(from.Default, &text) != nil {
				text = string(from.Default) // Argo takes numbers and truth values as their text
			}
			p.fallback = &text
		}
	}
	return true
}

// outputsOnVolume says whether a parameter is read from a volume, which the
// real executor finds through its own mounts.
func (s *argoStep) outputsOnVolume() bool {
	return slices.ContainsFunc(s.tmpl.Outputs.Parameters, func(p argoParameter) bool {
		return p.path != "" && slices.ContainsFunc(s.tmpl.Container.VolumeMounts, func(m corev1.VolumeMount) bool {
			at := strings.TrimRight(m.MountPath, "/")
			return p.path == at || strings.HasPrefix(p.path, at+"/")
		})
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

// plainEmissary says whether argosy-podinit plays the emissary in a container.
func (s *argoStep) plainEmissary(c *corev1.Container) bool {
	return s != nil && s.plain && c.Name == argoMain && len(c.Command) > 1 && c.Command[0] == argoProgram && c.Command[1] == "emissary"
}

// mounts shows the real executor where its own `init` would have copied it: it is large, and the copy slow.
func (s *argoStep) mounts(p *pod) []container.Mount {
	if s == nil || !s.binary {
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
