package engine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsyaml "sigs.k8s.io/yaml"
)

// Deadlock says why the gang of a distributed job that a resource template creates can never be complete; empty where it can be, and where
// numbers are not known before the step runs. The launcher's own jobs have no such gangs.
func Deadlock(manifest string) string {
	var o struct {
		APIVersion, Kind string
		Spec             map[string]any
	}
	if sigsyaml.Unmarshal([]byte(manifest), &o) != nil || o.Spec["elasticPolicy"] != nil { // which may bring more pods
		return ""
	}
	var path []string
	var roles map[string]any
	switch group, _, _ := strings.Cut(o.APIVersion, "/"); group {
	case "kubeflow.org":
		path = []string{"runPolicy", "schedulingPolicy", "minAvailable"}
		for field, value := range o.Spec {
			if of, is := value.(map[string]any); is && strings.HasSuffix(field, "ReplicaSpecs") {
				roles = of
			}
		}
	case "batch.volcano.sh":
		path = []string{"minAvailable"}
		roles = map[string]any{}
		tasks, _ := o.Spec["tasks"].([]any)
		for i, task := range tasks {
			roles[fmt.Sprint(i)] = task
		}
	}
	asked, _, _ := unstructured.NestedFieldNoCopy(o.Spec, path...)
	least, known := asked.(float64)
	if !known || len(roles) == 0 {
		return ""
	}
	pods, workers := 0.0, 0.0
	for name, role := range roles {
		of, _ := role.(map[string]any)
		n, known := of["replicas"].(float64)
		if _, set := of["replicas"]; !set && name != "Worker" {
			n, known = 1, true
		}
		if !known {
			return ""
		}
		if pods += n; name == "Worker" {
			workers = n
		}
	}
	field := "spec." + strings.Join(path, ".")
	switch {
	case o.Kind == "MPIJob" && o.Spec["launcherCreationPolicy"] == "WaitForWorkersReady" && least > workers:
		return fmt.Sprintf("the gang of its MPIJob can never be complete: %s is %g and so counts the launcher, which launcherCreationPolicy WaitForWorkersReady creates "+
			"only when the %g workers run: set minAvailable to %g, or leave launcherCreationPolicy out", field, least, workers, workers)
	case least > pods:
		return fmt.Sprintf("the gang of its %s can never be complete: %s is %g and the job has %g pods: set minAvailable to %g at most", o.Kind, field, least, pods, pods)
	}
	return ""
}
