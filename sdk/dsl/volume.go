package dsl

import (
	"path"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Volume is a source of files for Mount.
type Volume struct {
	what     string // for messages
	value    AnyValue
	size     string
	readOnly bool
	subPath  Value[string]
	into     func(*graph.Volume, graph.Text)
	pipeline *Pipeline // of a claim made by NewClaim
}

// Claim is a volume claim that exists in the cluster.
func Claim(name Value[string]) Volume {
	return Volume{what: "Claim", value: name, into: func(v *graph.Volume, t graph.Text) { v.Claim = t }}
}

// SecretFiles are the entries of a secret, each a file.
func SecretFiles(name Value[string]) Volume {
	return Volume{what: "SecretFiles", value: name, into: func(v *graph.Volume, t graph.Text) { v.Secret = t }}
}

// ConfigMapFiles are the entries of a config map, each a file.
func ConfigMapFiles(name Value[string]) Volume {
	return Volume{what: "ConfigMapFiles", value: name, into: func(v *graph.Volume, t graph.Text) { v.ConfigMap = t }}
}

// HostPath is a file or folder of the node.
func HostPath(file Value[string]) Volume {
	return Volume{what: "HostPath", value: file, into: func(v *graph.Volume, t graph.Text) { v.HostPath = t }}
}

// Scratch is an empty folder that is removed with the step. An empty size means unlimited.
func Scratch(size string) Volume {
	return Volume{what: "Scratch", size: size, into: func(v *graph.Volume, _ graph.Text) { v.Scratch = "disk" }}
}

// SharedMemory is Scratch in memory, for programs that need a large /dev/shm. It counts as memory of the step.
func SharedMemory(size string) Volume {
	return Volume{what: "SharedMemory", size: size, into: func(v *graph.Volume, _ graph.Text) { v.Scratch = "memory" }}
}

// ReadOnly returns the volume without write access.
func (v Volume) ReadOnly() Volume {
	v.readOnly = true
	return v
}

// SubPath returns only a file or folder of the volume.
func (v Volume) SubPath(file Value[string]) Volume {
	v.subPath = file
	return v
}

// ClaimOption configures a claim of NewClaim.
type ClaimOption func(*graph.Claim)

// StorageClass sets the claim's storage class. Default: the cluster's.
func StorageClass(name string) ClaimOption { return func(c *graph.Claim) { c.StorageClass = name } }

// ReadWriteMany allows pods on several nodes to mount the claim at the same time.
func ReadWriteMany() ClaimOption { return func(c *graph.Claim) { c.Mode = "ReadWriteMany" } }

// NewClaim creates a volume of the given size for each run and deletes it with the run.
func (p *Pipeline) NewClaim(name, size string, opts ...ClaimOption) Volume {
	if p == nil {
		return Volume{}
	}
	c := graph.Claim{Name: name, Size: size, Mode: "ReadWriteOnce"}
	for _, opt := range opts {
		opt(&c)
	}
	at := caller()
	switch {
	case !stepName.MatchString(name) || len(name) > stepNameMax:
		p.fault(at, "", "NewClaim %q: the name must hold only lower-case letters, digits and -, and begin with a letter", name)
	case !amount.MatchString(size):
		p.fault(at, "", "NewClaim %s: its size is %q: it must be a quantity such as 10Gi", name, size)
	case c.StorageClass != "" && !objectName.MatchString(c.StorageClass):
		p.fault(at, "", "NewClaim %s: its storage class: %s", name, badName(c.StorageClass))
	case slices.ContainsFunc(p.settings.Claims, func(o graph.Claim) bool { return o.Name == name }):
		p.fault(at, "", "NewClaim %s: the name is used twice", name)
	}
	p.settings.Claims = append(p.settings.Claims, c)
	return Volume{what: "NewClaim", pipeline: p, into: func(v *graph.Volume, _ graph.Text) { v.RunClaim = name }}
}

// Mount mounts a volume in the step's container at an absolute path.
func Mount(at string, v Volume) StepOption {
	return stepOption(func(s *Step) {
		if !path.IsAbs(at) || path.Clean(at) == "/" || strings.ContainsAny(at, ":{") || checkText(at) != nil {
			s.Fault("Mount: its path %q must be an absolute path in the container", at)
		}
		if v.into == nil {
			s.Fault("Mount %s: the volume is not set", at)
			return
		}
		if v.size != "" && !amount.MatchString(v.size) {
			s.Fault("Mount %s: its size is %q: it must be a quantity such as 10Gi", at, v.size)
		}
		if v.pipeline != nil && v.pipeline != s.pipeline {
			s.Fault("Mount %s: the claim is of another pipeline (%q)", at, v.pipeline.Name())
		}
		m := graph.Mount{Path: at, ReadOnly: v.readOnly, Volume: graph.Volume{Size: v.size}}
		v.into(&m.Volume, s.volumeName(at, v))
		if v.subPath.IsSet() {
			m.SubPath = s.text("Mount "+at+" SubPath", v.subPath)
		}
		if i := slices.IndexFunc(s.box.Mounts, func(o graph.Mount) bool { return o.Path == at }); i >= 0 {
			s.box.Mounts[i] = m
			return
		}
		s.box.Mounts = append(s.box.Mounts, m)
	})
}

func (s *Step) volumeName(at string, v Volume) graph.Text {
	if v.value == nil {
		return nil
	}
	what := "Mount " + at + " " + v.what
	known, ok := Known(v.value)
	switch constant := ok && len(v.value.recorded().refs()) == 0; {
	case constant && v.what == "HostPath" && !path.IsAbs(known):
		s.Fault("%s is %q: it must be an absolute path of the node", what, known)
	case constant && v.what != "HostPath" && !objectName.MatchString(known):
		s.Fault("%s: %s", what, badName(known))
	}
	return s.text(what, v.value)
}
