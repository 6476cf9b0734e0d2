package embedded

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// Options are the settings of a cluster at its start. The zero value means the cluster's own defaults.
type Options struct {
	Images string `json:"images,omitempty"` // auto, host or pull; empty: not said
	Nodes  int    `json:"nodes,omitempty"`  // 0: not said
	GPUs   *int   `json:"gpus,omitempty"`   // of each node; nil: not said

	InsecureRegistries []string `json:"insecure_registries,omitempty"` // that may speak plain HTTP; those of this machine always may
	HostPaths          []string `json:"host_paths,omitempty"`          // folders of this machine that pods may have as volumes
	HostShow           []string `json:"host_show,omitempty"`           // folders of this machine that pods see, though they lie in hidden ones
	StockArgo          bool     `json:"stock_argo,omitempty"`          // nothing makes Argo quicker than it is
	Placement          string   `json:"placement,omitempty"`           // pack or spread: which nodes Volcano fills first; empty: not said
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
	for _, dir := range o.HostPaths {
		flags = append(flags, "--host-path="+dir)
	}
	for _, dir := range o.HostShow {
		flags = append(flags, "--host-show="+dir)
	}
	if o.StockArgo {
		flags = append(flags, "--stock-argo")
	}
	if o.Placement != "" {
		flags = append(flags, "--placement="+o.Placement)
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
	if asked.Placement != "" && asked.Placement != running.Placement {
		not.Placement = running.Placement
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
	for _, dir := range asked.HostPaths {
		if !slices.Contains(running.HostPaths, dir) {
			how = append(how, "without --host-path="+dir)
		}
	}
	for _, dir := range asked.HostShow {
		if !slices.Contains(running.HostShow, dir) {
			how = append(how, "without --host-show="+dir)
		}
	}
	if asked.StockArgo && !running.StockArgo {
		how = append(how, "without --stock-argo")
	}
	if len(how) > 0 {
		return &Different{Home: h, How: how}
	}
	return nil
}
