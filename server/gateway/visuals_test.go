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

func TestCompareVisuals(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := s.run(t), s.run(t)
	for _, id := range []string{a, b} {
		s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode(id+"-1", run.Succeeded), s.stepNode(id+"-2", run.Succeeded)}})
	}
	s.draw(t, a, a+"-1", `{"outputs":[
		{"type":"markdown","storage":"inline","source":"# not compared"},
		{"type":"roc","format":"csv","storage":"inline","source":"0,0,1\n1,1,0\n","schema":[{"name":"fpr"},{"name":"tpr"},{"name":"threshold"}]}]}`)
	s.draw(t, a, a+"-2", `{"outputs":[{"type":"table","format":"csv","storage":"inline","source":"x,1\n","header":["class","f1"]}]}`)
	s.draw(t, b, b+"-2", `{"outputs":[{"type":"pie","source":"x"}]}`)
	got := s.get(t, "/apis/argosy/v1/runs:visuals?run_ids="+a+"&run_ids="+b, 200)
	require.JSONEq(t, `{"runs":[{"run_id":"A","visuals":[
		{"node_id":"A-1","step_name":"A-1","number":2,"type":"roc","storage":"inline","source":"0,0,1\n1,1,0\n","format":"csv",
		 "schema":[{"name":"fpr"},{"name":"tpr"},{"name":"threshold"}]},
		{"node_id":"A-2","step_name":"A-2","number":1,"type":"table","storage":"inline","source":"x,1\n","format":"csv","header":["class","f1"]}]},
		{"run_id":"B"}]}`, strings.NewReplacer(a, "A", b, "B").Replace(got))
}
