package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"gopkg.in/yaml.v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/server/fault"
)

// maxExpanded bounds a manifest after its YAML aliases are written out.
const maxExpanded = 64 << 20

const (
	workflowKind = "Workflow"
	workflowAPI  = "argoproj.io/v1alpha1"
)

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
	var head struct {
		metav1.TypeMeta
		PipelineInfo json.RawMessage `json:"pipelineInfo"`
		PipelineSpec json.RawMessage `json:"pipelineSpec"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, refuse("it is no Workflow, which is a mapping with apiVersion, kind, metadata and spec").Because(err)
	}
	switch {
	case head.PipelineInfo != nil || head.PipelineSpec != nil:
		return nil, refuse("it is a pipeline spec of KFP v2; compile it as v1, to an Argo Workflow")
	case head.Kind == "" && head.APIVersion == "":
		return nil, refuse("it is no Workflow: apiVersion and kind are missing")
	case head.Kind != workflowKind:
		return nil, refuse("it is of kind %q; it must be of kind %s", head.Kind, workflowKind)
	case head.APIVersion != workflowAPI:
		return nil, refuse("its apiVersion is %q; it must be %s", head.APIVersion, workflowAPI)
	}
	wf := &wfv1.Workflow{}
	if err := json.Unmarshal(text, wf); err != nil {
		return nil, refuse("it does not fit Argo's Workflow: %s", fieldOf(err)).Because(err)
	}
	return wf, nil
}

func toJSON(manifest []byte) ([]byte, error) {
	if json.Valid(manifest) { // not all of JSON is YAML to the YAML reader: escaped surrogate pairs are not
		return manifest, nil
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

// onlyDocument gives the one document of a manifest, and refuses one whose aliases would blow it up.
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
		if first != nil {
			return nil, refuse("it holds more than one YAML document (the second is at line %d); upload one Workflow", node.Line)
		}
		first = &node
	}
	if first == nil {
		return nil, refuse("it is empty")
	}
	if expanded(first, map[*yaml.Node]int{}) > maxExpanded {
		return nil, refuse("its YAML aliases expand to more than %d MiB", maxExpanded>>20)
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

func isNull(n *yaml.Node) bool {
	return n.Kind == 0 || n.Kind == yaml.DocumentNode && (len(n.Content) == 0 || n.Content[0].Tag == "!!null")
}

// expanded measures a node with its aliases written out, without writing them out. It stops counting above the limit.
func expanded(n *yaml.Node, known map[*yaml.Node]int) int {
	if size, ok := known[n]; ok {
		return size
	}
	known[n] = maxExpanded + 1 // an alias inside its own anchor never ends
	size := len(n.Value) + 8
	if n.Kind == yaml.AliasNode {
		size = expanded(n.Alias, known)
	}
	for _, child := range n.Content {
		if size += expanded(child, known); size > maxExpanded {
			break
		}
	}
	known[n] = size
	return size
}

// fieldOf names the field that a JSON error is about in the manifest's own terms.
func fieldOf(err error) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return wrongType.Field + " cannot be a " + wrongType.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func refuse(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "the manifest cannot be used: "+format, args...)
}
