package embedded

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// Options are what a cluster can be told when it starts. The zero value leaves everything to the cluster.
type Options struct {
	Images string `json:"images,omitempty"` // auto, host or pull; empty: not said
	Nodes  int    `json:"nodes,omitempty"`  // 0: not said
	GPUs   *int   `json:"gpus,omitempty"`   // of each node; nil: not said
}

// flags are the options as argosy-cluster takes them.
func (o Options) flags() (flags []string) {
	if o.Images != "" {
		flags = append(flags, "--images="+o.Images)
	}
	if o.Nodes != 0 {
		flags = append(flags, "--nodes="+strconv.Itoa(o.Nodes))
	}
	if o.GPUs != nil {
		flags = append(flags, "--gpus="+strconv.Itoa(*o.GPUs))
	}
	return flags
}

// Different says that a cluster runs, but with other options than those asked for.
type Different struct {
	Home  home.Home
	Flags []string // it runs with, where they are not as asked
}

func (e *Different) Error() string {
	return fmt.Sprintf("a cluster runs on %s already, with %s; stop it first with `argosy cluster stop`, or choose another folder with --home",
		e.Home, strings.Join(e.Flags, " "))
}

// agree is a *Different unless the running cluster is as asked.
func agree(h home.Home, asked, running Options) error {
	var not Options
	if asked.Images != "" && asked.Images != running.Images {
		not.Images = running.Images
	}
	if asked.Nodes != 0 && asked.Nodes != running.Nodes {
		not.Nodes = running.Nodes
	}
	if asked.GPUs != nil && running.GPUs != nil && *asked.GPUs != *running.GPUs {
		not.GPUs = running.GPUs
	}
	if flags := not.flags(); len(flags) > 0 {
		return &Different{Home: h, Flags: flags}
	}
	return nil
}
