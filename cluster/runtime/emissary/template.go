package emissary

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// template is what the emissary needs to know of an Argo template.
type template struct {
	Container    *mounting `json:"container"`
	Script       *mounting `json:"script"`
	ContainerSet *struct {
		mounting
		Containers []struct {
			Name         string   `json:"name"`
			Dependencies []string `json:"dependencies"`
		} `json:"containers"`
		RetryStrategy *struct {
			Duration string          `json:"duration"`
			Retries  json.RawMessage `json:"retries"` // a number, or one in quotes
		} `json:"retryStrategy"`
	} `json:"containerSet"`
	Sidecars []struct {
		Name string `json:"name"`
	} `json:"sidecars"`
	Outputs struct {
		Parameters []struct {
			ValueFrom *struct {
				Path string `json:"path"`
			} `json:"valueFrom"`
		} `json:"parameters"`
		Artifacts []struct {
			Path string `json:"path"`
		} `json:"artifacts"`
	} `json:"outputs"`
	ArchiveLocation *struct {
		ArchiveLogs bool `json:"archiveLogs"`
	} `json:"archiveLocation"`
}

type mounting struct {
	VolumeMounts []struct {
		MountPath string `json:"mountPath"`
	} `json:"volumeMounts"`
}

func readTemplate(folder string) (*template, error) {
	data, err := os.ReadFile(filepath.Join(folder, "template"))
	if err != nil {
		return nil, err
	}
	t := &template{}
	return t, json.Unmarshal(data, t)
}

// mains are the containers whose end is the end of the step.
func (t *template) mains() []string {
	if t.ContainerSet == nil {
		return []string{"main"}
	}
	var names []string
	for _, c := range t.ContainerSet.Containers {
		names = append(names, c.Name)
	}
	return names
}

func (t *template) isSidecar(container string) bool {
	for _, s := range t.Sidecars {
		if s.Name == container {
			return true
		}
	}
	return false
}

// dependencies are the containers of a set that must have ended well before this one starts.
func (t *template) dependencies(container string) []string {
	if t.ContainerSet != nil {
		for _, c := range t.ContainerSet.Containers {
			if c.Name == container {
				return c.Dependencies
			}
		}
	}
	return nil
}

// tries is how often a container of a set is run until it succeeds, and the pause between.
func (t *template) tries() (int, time.Duration, error) {
	if t.ContainerSet == nil || t.ContainerSet.RetryStrategy == nil || len(t.ContainerSet.RetryStrategy.Retries) == 0 {
		return 1, 0, nil
	}
	var n int
	err := json.Unmarshal([]byte(strings.Trim(string(t.ContainerSet.RetryStrategy.Retries), `"`)), &n)
	var pause time.Duration
	if d := t.ContainerSet.RetryStrategy.Duration; err == nil && d != "" {
		pause, err = time.ParseDuration(d)
	}
	return n, pause, err
}

// onVolume says whether a path lies on a volume of the step, where the executor finds it by itself.
func (t *template) onVolume(path string) bool {
	var m *mounting
	switch {
	case t.Container != nil:
		m = t.Container
	case t.Script != nil:
		m = t.Script
	case t.ContainerSet != nil:
		m = &t.ContainerSet.mounting
	default:
		return false
	}
	for _, v := range m.VolumeMounts {
		at := strings.TrimRight(v.MountPath, "/")
		if path == at || strings.HasPrefix(path, at+"/") {
			return true
		}
	}
	return false
}
