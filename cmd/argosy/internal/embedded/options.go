package embedded

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// Options are what a cluster can be told when it starts. The zero value leaves everything to the cluster.
type Options struct {
	Images string `json:"images,omitempty"` // auto, host or pull; empty: not said
	Nodes  int    `json:"nodes,omitempty"`  // 0: not said
	GPUs   *int   `json:"gpus,omitempty"`   // of each node; nil: not said

	InsecureRegistries []string `json:"insecure_registries,omitempty"` // that may speak plain HTTP; those of this machine always may
}

// Flags are the options as argosy-cluster takes them.
func (o Options) Flags() (flags []string) {
	if o.Images != "" {
		flags = append(flags, "--images="+o.Images)
	}
	if o.Nodes != 0 {
		flags = append(flags, "--nodes="+strconv.Itoa(o.Nodes))
	}
	if o.GPUs != nil {
		flags = append(flags, "--gpus="+strconv.Itoa(*o.GPUs))
	}
	for _, registry := range o.InsecureRegistries {
		flags = append(flags, "--insecure-registry="+registry)
	}
	return flags
}

// Different says that a cluster runs, but with other options than those asked for.
type Different struct {
	Home home.Home
	How  []string // such as "with --nodes=1"
}

func (e *Different) Error() string {
	return fmt.Sprintf("a cluster runs on %s already, %s", e.Home, strings.Join(e.How, ", "))
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
	var how []string
	for _, flag := range not.Flags() {
		how = append(how, "with "+flag)
	}
	for _, registry := range asked.InsecureRegistries {
		if !slices.Contains(running.InsecureRegistries, registry) {
			how = append(how, "without --insecure-registry="+registry)
		}
	}
	if len(how) > 0 {
		return &Different{Home: h, How: how}
	}
	return nil
}
