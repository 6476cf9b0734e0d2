package bootstrap

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// An outline is a small part of a definition, and one that the apiserver takes.
func TestOutline(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"kubeflow.org_mpijobs", "kubeflow.org_pytorchjobs", "batch.volcano.sh_jobs"} {
		whole, err := readDefinition("crds/" + file + ".json")
		require.NoError(t, err)
		require.True(t, whole.large(), file)
		o, err := whole.outline()
		require.NoError(t, err)
		require.Less(t, len(o.raw), len(whole.raw)/4, file)
		require.NotEqual(t, whole.content, o.content)
		require.Equal(t, whole.name, o.name)

		var crd apiextensionsv1.CustomResourceDefinition
		require.NoError(t, json.Unmarshal(o.raw, &crd))
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		var internal apiextensions.CustomResourceDefinition
		require.NoError(t, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil))
		internal.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
		require.Empty(t, validation.ValidateCustomResourceDefinition(t.Context(), &internal), file)
	}
}

func TestOutlineKeepsWhatIsAbove(t *testing.T) {
	t.Parallel()
	schema := func() any {
		var s any
		require.NoError(t, json.Unmarshal([]byte(`{"type":"object","properties":{
			"a":{"type":"object","properties":{"b":{"type":"string","enum":["x"]},"c":{"type":"object","properties":{"d":{"type":"string"}}}}},
			"l":{"type":"array","items":{"type":"object","properties":{"e":{"type":"array","items":{"type":"string"}}}}}}}`), &s))
		return s
	}
	require.Equal(t, schema(), outline(schema(), 9), "nothing is cut")
	cut, err := json.Marshal(outline(schema(), 2))
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{
		"a":{"type":"object","properties":{"b":{"type":"string","enum":["x"]},"c":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
		"l":{"type":"array","items":{"x-kubernetes-preserve-unknown-fields":true}}}}`, string(cut))
}
