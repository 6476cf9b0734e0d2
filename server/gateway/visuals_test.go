package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/uimetadata"
)

// draw does what the reconciler does with the UI metadata of a step.
func (s *server) draw(t *testing.T, id, node, file string) {
	t.Helper()
	var visuals []run.Visual
	for _, e := range uimetadata.Parse([]byte(file)) {
		visuals = append(visuals, run.Visual{NodeID: node, Number: e.Number, Type: e.Output.Type, Problem: e.Problem, Body: e.Body()})
	}
	require.NoError(t, s.store.PutVisuals(t.Context(), id, node, visuals))
}

func TestVisuals(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Succeeded), s.stepNode("b", run.Succeeded), s.stepNode("c", run.Succeeded)}})
	s.draw(t, id, "a", `{"outputs":[
		{"type":"roc","format":"csv","storage":"inline","source":"0,0,1\n","schema":[{"name":"fpr","type":"NUMBER"},{"name":"tpr"},{"name":"threshold"}]},
		{"type":"pie","source":"x"},
		{"type":"markdown","storage":"inline","source":"`+strings.Repeat("x", 1<<20+1)+`"}]}`)
	s.draw(t, id, "b", "{\xff")
	path := "/apis/argosy/v1/runs/" + id + "/visuals"
	read := func(query string) string {
		t.Helper()
		var indented strings.Builder
		e := json.NewEncoder(&indented)
		var v any
		require.NoError(t, json.Unmarshal([]byte(s.get(t, path+query, 200)), &v))
		require.NoError(t, e.Encode(v))
		return indented.String()
	}
	require.JSONEq(t, `{"visuals":[
		{"node_id":"a","step_name":"a","number":1,"type":"roc"},
		{"node_id":"a","step_name":"a","number":2,"problem":"type \"pie\" is unknown; it can be confusion_matrix, roc, table, markdown, web-app or tensorboard"},
		{"node_id":"a","step_name":"a","number":3,"type":"markdown"},
		{"node_id":"b","step_name":"b","problem":"the UI metadata is not JSON of the form {\"outputs\": [...]}: invalid character 'ÿ' looking for beginning of object key string"}]}`, read(""))
	require.JSONEq(t, `{"visuals":[
		{"node_id":"a","step_name":"a","number":1,"type":"roc","storage":"inline","source":"0,0,1\n","format":"csv",
		 "schema":[{"name":"fpr","type":"NUMBER"},{"name":"tpr"},{"name":"threshold"}]},
		{"node_id":"a","step_name":"a","number":2,"raw":"{\"type\":\"pie\",\"source\":\"x\"}",
		 "problem":"type \"pie\" is unknown; it can be confusion_matrix, roc, table, markdown, web-app or tensorboard"},
		{"node_id":"a","step_name":"a","number":3,"type":"markdown","storage":"inline","source_size":"1048577"}]}`, read("?node_id=a"))
	require.Contains(t, read("?node_id=b"), `"raw":"{�"`)
	require.JSONEq(t, `{}`, read("?node_id=c"))
	s.get(t, path+"?node_id=none", 404)
	s.get(t, "/apis/argosy/v1/runs/none/visuals", 404)

	answer, err := argosyv1.NewVisualServiceClient(s.conn).ListVisuals(t.Context(), &argosyv1.ListVisualsRequest{RunId: id, NodeId: "a"})
	require.NoError(t, err)
	require.Equal(t, "0,0,1\n", answer.GetVisuals()[0].GetSource())
}
