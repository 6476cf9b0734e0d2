package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"gopkg.in/yaml.v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/server/apierr"
)

const (
	workflowKind = "Workflow"
	workflowAPI  = "argoproj.io/v1alpha1"
)

// forV2 is what is wrong with the packages of KFP's SDKs for v2, of either form.
const forV2 = "it is compiled for KFP v2, as a pipeline spec or in the v2-compatible mode, and its steps need drivers and launchers that " +
	"Argosy does not have; compile it for v1, to a plain Argo Workflow: SDK 1.8 does so in the mode V1_LEGACY, which is its default"

// Parse reads a manifest, YAML or JSON, as the Argo Workflow that is run for it.
func Parse(manifest []byte) (*wfv1.Workflow, error) {
	wf, err := Read(manifest)
	if err != nil {
		return nil, err
	}
	adapt(wf)
	return wf, nil
}

// Read reads a manifest, YAML or JSON, as an Argo Workflow, just as it is written.
func Read(manifest []byte) (*wfv1.Workflow, error) {
	text, err := toJSON(manifest)
	if err != nil {
		return nil, err
	}
	var wf struct {
		wfv1.Workflow
		PipelineInfo json.RawMessage `json:"pipelineInfo"`
		PipelineSpec json.RawMessage `json:"pipelineSpec"`
	}
	err = json.Unmarshal(text, &wf) // a value of a wrong type does not keep it from reading the others
	switch {
	case wf.PipelineInfo != nil || wf.PipelineSpec != nil:
		return nil, refuse(forV2)
	case wf.Kind == "" && wf.APIVersion == "" && err != nil:
		return nil, refuse("it is not a Workflow, which is a mapping with apiVersion, kind, metadata and spec").Because(err)
	case wf.Kind == "" && wf.APIVersion == "":
		return nil, refuse("it is not a Workflow: apiVersion and kind are missing")
	case wf.Kind != workflowKind:
		return nil, refuse("it is of kind %q; it must be of kind %s", wf.Kind, workflowKind)
	case wf.APIVersion != workflowAPI:
		return nil, refuse("its apiVersion is %q; it must be %s", wf.APIVersion, workflowAPI)
	case err != nil:
		return nil, refuse("it does not fit Argo's Workflow: %s", fieldOf(err)).Because(err)
	case wf.Annotations[annotationV2] == "true":
		return nil, refuse(forV2)
	}
	return &wf.Workflow, nil
}

func toJSON(manifest []byte) ([]byte, error) {
	if json.Valid(manifest) { // not all of JSON is YAML to the YAML reader: escaped surrogate pairs are not
		return manifest, extentOfJSON(manifest).check(false)
	}
	if err := checkMarks(manifest); err != nil {
		return nil, err
	}
	document, err := onlyDocument(manifest)
	if err != nil {
		return nil, err
	}
	text, err := sigsyaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, refuse("it is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: ")).Because(err)
	}
	return text, nil
}

// onlyDocument returns the single document of a manifest. It refuses manifests of several documents and those beyond the limits.
func onlyDocument(manifest []byte) ([]byte, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(manifest))
	var first *yaml.Node
	documents := 0
	for ; ; documents++ {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, refuse("it is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: ")).Because(err)
		}
		if isNull(&node) {
			continue
		}
		if first != nil && isSpecV2(first) { // the other one is its platform's
			return nil, refuse(forV2)
		}
		if first != nil {
			return nil, refuse("it holds more than one YAML document (the second is at line %d); upload one Workflow", node.Line)
		}
		first = &node
	}
	if first == nil {
		return nil, refuse("it is empty")
	}
	m := measure{}
	if err := m.of(first).check(len(m) > 0); err != nil {
		return nil, err
	}
	if documents == 1 {
		return manifest, nil
	}
	alone, err := yaml.Marshal(first) // the others are empty, but may come first
	if err != nil {
		return nil, refuse("it is not valid YAML: %s", err).Because(err)
	}
	return alone, nil
}

// isSpecV2 tells a pipeline spec of KFP v2.
func isSpecV2(n *yaml.Node) bool {
	var head struct {
		PipelineInfo yaml.Node `yaml:"pipelineInfo"`
	}
	return n.Decode(&head) == nil && head.PipelineInfo.Kind != 0
}

func isNull(n *yaml.Node) bool {
	return n.Kind == 0 || n.Kind == yaml.DocumentNode && (len(n.Content) == 0 || n.Content[0].Tag == "!!null")
}

// fieldOf names the field that a JSON error is about in the manifest's own terms.
func fieldOf(err error) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return wrongType.Field + " cannot be a " + wrongType.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func refuse(format string, args ...any) *apierr.Error {
	return apierr.New(apierr.Invalid, "the manifest cannot be used: "+format, args...)
}
