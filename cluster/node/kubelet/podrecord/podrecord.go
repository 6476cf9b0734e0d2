// Package podrecord keeps what a pod was given where the next kubelet finds it.
package podrecord

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
)

// File is the record that a kubelet leaves in a pod's folder for the next kubelet. The states of containers are known to their holder and
// to package podlog.
const File = "pod.json"

// Record holds the resources assigned to a pod. It is written when the pod is set up, before any container starts.
type Record struct {
	Addr    netip.Addr
	Began   time.Time
	Volumes map[string]string // folder of each
	Images  map[string]Image  `json:",omitempty"` // of the containers that are not made of this machine's files
	Reason  string            `json:",omitempty"` // why it is made to fail, once that is decided
	Message string            `json:",omitempty"`
	Over    bool              `json:",omitempty"` // its end was reported
}

// Image is what the next kubelet has to know of a container's image.
type Image struct {
	ID         string
	StopSignal string `json:",omitempty"`
}

// Read reads the record in a pod's folder.
func Read(dir string) (Record, error) {
	var r Record
	b, err := os.ReadFile(filepath.Join(dir, File))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}

// Write writes the record down in the pod's folder.
func (r Record) Write(dir string) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return beneath.Replace(filepath.Join(dir, File), b, 0o600)
}
