package engine

import (
	"path"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/server/metric"
	"github.com/argosy-ml/argosy/server/uimetadata"
)

// Output artifacts that steps may leave for the server, and need not (KFP v1), and where they leave them.
const (
	metricsArtifact = metric.ArtifactName
	metricsFile     = "/mlpipeline-metrics.json"
	uiArtifact      = uimetadata.ArtifactName
	uiFile          = "/mlpipeline-ui-metadata.json"
)

// launcher is the image of the program that runs distributed jobs; on a cluster of our own any tag is the one that came with it.
const launcher = "argosyml/" + launcherImage + ":dev"

// adapt mends what the packages of KFP's SDKs, 0.1.16 to 1.8, leave to the server or got wrong.
func adapt(wf *wfv1.Workflow) {
	dropExitTwin(wf)
	for i := range wf.Spec.Templates {
		t := &wf.Spec.Templates[i]
		if t.Parallelism != nil && *t.Parallelism == 0 {
			t.Parallelism = nil // the SDK writes 0 and means no limit
		}
		if t.Container != nil && isArena(t) {
			adoptArena(t)
		}
		if fromSDK(wf) {
			collect(t, metricsArtifact, metricsFile)
			collect(t, uiArtifact, uiFile)
		}
	}
	if wf.Spec.Parallelism != nil && *wf.Spec.Parallelism == 0 {
		wf.Spec.Parallelism = nil
	}
}

// fromSDK tells manifests that KFP's SDK compiled; the early ones are only known by the service account.
func fromSDK(wf *wfv1.Workflow) bool {
	_, ours := wf.Annotations["argosy.dev/sdk_version"]
	return !ours && wf.Spec.ServiceAccountName == defaultServiceAccount
}

// dropExitTwin removes the task that SDK 0.1.16 makes of the exit handler in the root DAG beside naming it as the exit
// handler: it would run twice, once of them before its time.
func dropExitTwin(wf *wfv1.Workflow) {
	root := wf.GetTemplateByName(wf.Spec.Entrypoint)
	if wf.Spec.OnExit == "" || root == nil || root.DAG == nil || !fromSDK(wf) {
		return
	}
	needed := map[string]bool{}
	for i := range root.DAG.Tasks {
		for _, name := range dependencies(&root.DAG.Tasks[i]) {
			needed[name] = true
		}
	}
	root.DAG.Tasks = slices.DeleteFunc(root.DAG.Tasks, func(t wfv1.DAGTask) bool {
		return t.Template == wf.Spec.OnExit && !needed[t.Name] && len(dependencies(&t)) == 0
	})
}

// collect has an artifact of the server's collected although the step does not declare it: later SDKs leave that to the
// pipeline's author, and what a step measured would be lost.
func collect(t *wfv1.Template, name, file string) {
	if t.Container == nil && t.Script == nil {
		return
	}
	for _, a := range t.Outputs.Artifacts {
		if a.Name == name || a.Path == file {
			return
		}
	}
	for _, p := range t.Outputs.Parameters {
		if p.ValueFrom != nil && p.ValueFrom.Path == file {
			return
		}
	}
	t.Outputs.Artifacts = append(t.Outputs.Artifacts, wfv1.Artifact{Name: name, Path: file, Optional: true})
}

// isArena tells steps of kfp-arena, which run python arena_launcher.py.
func isArena(t *wfv1.Template) bool {
	return slices.ContainsFunc(slices.Concat(t.Container.Command, t.Container.Args), func(word string) bool {
		return path.Base(word) == "arena_launcher.py"
	})
}

// adoptArena has a step of kfp-arena run by our launcher, which understands its arguments.
func adoptArena(t *wfv1.Template) {
	c := t.Container
	words := slices.Concat(c.Command, c.Args)
	script := slices.IndexFunc(words, func(word string) bool { return path.Base(word) == "arena_launcher.py" })
	c.Image, c.ImagePullPolicy = launcher, corev1.PullIfNotPresent
	c.Command, c.Args = []string{launcherImage, "arena"}, words[script+1:]
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	c.Env = append(c.Env,
		corev1.EnvVar{Name: "WORKFLOW_NAME", Value: "{{workflow.name}}"},
		field("NODE_ID", "metadata.annotations['workflows.argoproj.io/node-id']"),
		field("POD_NAME", "metadata.name"), field("POD_NAMESPACE", "metadata.namespace"),
	)
	collect(t, metricsArtifact, metricsFile)
	for i := range t.Outputs.Parameters { // a step that fails has left only some of its files
		if v := t.Outputs.Parameters[i].ValueFrom; v != nil && strings.HasSuffix(v.Path, ".txt") && v.Default == nil {
			v.Default = wfv1.AnyStringPtr("")
		}
	}
}
