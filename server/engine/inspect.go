package engine

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/templateresolution"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/pipeline"
)

// Inspect reads and validates a manifest as Argo's lint does. Parameters may have no value yet: the runs give them one.
func (e *Engine) Inspect(ctx context.Context, manifest []byte) (pipeline.Spec, error) {
	wf, err := Parse(manifest)
	if err != nil {
		return pipeline.Spec{}, err
	}
	supplied := wf.DeepCopy()
	Supply(supplied)
	if err := e.validate(ctx, supplied, validate.ValidateOpts{Lint: true}); err != nil {
		return pipeline.Spec{}, err
	}
	s := pipeline.Spec{Name: strings.TrimSuffix(wf.GenerateName, "-")}
	if wf.Name != "" {
		s.Name = wf.Name
	}
	// What the SDK wrote about the pipeline is only for show: when it cannot be read, the manifest's own name serves.
	var annotation struct{ Name, Description string }
	if json.Unmarshal([]byte(wf.Annotations[annotationSpec]), &annotation) == nil {
		if annotation.Name != "" {
			s.Name = annotation.Name
		}
		s.Description = annotation.Description
	}
	s.Parameters = []pipeline.Parameter{}
	for _, p := range wf.Spec.Arguments.Parameters {
		parameter := pipeline.Parameter{Name: p.Name}
		if p.Value != nil {
			parameter.Value, parameter.HasDefault = p.Value.String(), true
		}
		s.Parameters = append(s.Parameters, parameter)
	}
	s.Graph = graphOf(wf)
	s.Graph.Parameters = s.Parameters
	return s, nil
}

// unknownValue is what a parameter has that gets its value from a run. Argo's validation passes over values that begin so.
const unknownValue = "placeholder-of-a-run"

// Supply gives the parameters of a Workflow that have no value one, as each run does: Argo's validation follows them into the
// templates of the entry point and the exit handler, where a missing one would be a fault of the manifest.
func Supply(wf *wfv1.Workflow) {
	for i := range wf.Spec.Arguments.Parameters {
		p := &wf.Spec.Arguments.Parameters[i]
		switch {
		case p.Value != nil || p.ValueFrom != nil:
		case len(p.Enum) > 0:
			p.Value = &p.Enum[0]
		default:
			p.Value = wfv1.AnyStringPtr(unknownValue)
		}
	}
}

// oneValidation: Argo's validation counts placeholders in a variable that all calls share, without a lock.
var oneValidation sync.Mutex

// Validate runs Argo's own checks, one call at a time, with the WorkflowTemplates that the getters find.
func Validate(
	namespaced templateresolution.WorkflowTemplateNamespacedGetter, cluster templateresolution.ClusterWorkflowTemplateGetter,
	wf *wfv1.Workflow, o validate.ValidateOpts,
) error {
	oneValidation.Lock()
	defer oneValidation.Unlock()
	return validate.ValidateWorkflow(namespaced, cluster, wf, nil, o)
}

// validate runs Argo's own checks. WorkflowTemplates that the manifest refers to are read from the cluster.
func (e *Engine) validate(ctx context.Context, wf *wfv1.Workflow, o validate.ValidateOpts) error {
	templates := e.argo.ArgoprojV1alpha1()
	err := Validate(
		namespacedTemplates{ctx, e}, templateresolution.WrapClusterWorkflowTemplateInterface(templates.ClusterWorkflowTemplates()),
		wf, o)
	if err != nil {
		return refuse("%s", err).Because(err)
	}
	return nil
}

type namespacedTemplates struct {
	ctx    context.Context //nolint:containedctx // Argo's interface passes none
	engine *Engine
}

func (t namespacedTemplates) Get(name string) (*wfv1.WorkflowTemplate, error) {
	return t.engine.argo.ArgoprojV1alpha1().WorkflowTemplates(t.engine.namespace).Get(t.ctx, name, metav1.GetOptions{})
}
