// Package versions names the upstream programs that argosy-controlplane holds, with their versions.
package versions

import "runtime/debug"

// Component is one of these programs.
type Component struct{ Name, Version string }

// components are the modules whose versions matter to a user.
var components = []struct{ name, module string }{
	{"kubernetes", "k8s.io/kubernetes"},
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"argo-workflows", "github.com/argoproj/argo-workflows/v3"},
	{"mpi-operator", "github.com/kubeflow/mpi-operator"},
	{"training-operator", "github.com/kubeflow/training-operator"},
	{"volcano", "volcano.sh/volcano"},
}

// Of returns the programs that a binary holds, by what its build recorded.
func Of(info *debug.BuildInfo) []Component {
	versions := map[string]string{}
	for _, m := range info.Deps {
		if m.Replace != nil && m.Replace.Version != "" {
			m = m.Replace
		}
		versions[m.Path] = m.Version
	}
	var all []Component
	for _, c := range components {
		if version := versions[c.module]; version != "" {
			all = append(all, Component{c.name, version})
		}
	}
	return all
}
