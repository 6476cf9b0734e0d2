package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/run"
)

// refers has steps that refer to objects that exist, that another step makes, and that do not exist.
const refers = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: refers-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: token, value: absent}, {name: image, value: "Not An Image"}]}
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data}}
  templates:
  - name: main
    dag:
      tasks:
      - {name: make, template: make}
      - {name: uses, template: uses, arguments: {parameters: [{name: token, value: "{{workflow.parameters.token}}"}]}}
      - {name: odd, template: odd}
      - {name: later, template: uses, dependencies: [make], arguments: {parameters: [{name: token, value: "{{tasks.make.outputs.parameters.name}}"}]}}
  - name: make
    outputs: {parameters: [{name: name, valueFrom: {jsonPath: "{.metadata.name}"}}]}
    resource: {action: create, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}"}
  - name: uses
    inputs: {parameters: [{name: token}]}
    container:
      image: host
      command: ["true"]
      resources: {requests: {cpu: "3"}}
      env:
      - {name: A, valueFrom: {secretKeyRef: {name: "{{inputs.parameters.token}}", key: k}}}
      - {name: B, valueFrom: {secretKeyRef: {name: perhaps, key: k, optional: true}}}
      - {name: C, valueFrom: {secretKeyRef: {name: there, key: k}}}
      - {name: D, valueFrom: {configMapKeyRef: {name: made, key: k}}}
      envFrom: [{configMapRef: {name: settings}}]
      volumeMounts: [{name: data, mountPath: /data}]
  - name: odd
    container: {image: "{{workflow.parameters.image}}", command: ["true"]}
`

func TestConcerns(t *testing.T) {
	t.Parallel()
	here := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "kubeflow"} }
	quota := func(name, cpu string, scopes ...corev1.ResourceQuotaScope) *corev1.ResourceQuota {
		hard := corev1.ResourceList{"requests.cpu": resource.MustParse(cpu), "pods": resource.MustParse("9")}
		return &corev1.ResourceQuota{ObjectMeta: here(name), Spec: corev1.ResourceQuotaSpec{Hard: hard, Scopes: scopes}}
	}
	there := []runtime.Object{
		&corev1.Secret{ObjectMeta: here("there")},
		quota("team", "2"), quota("large", "4"), quota("best", "1", corev1.ResourceQuotaScopeBestEffort),
	}
	asked := options()
	asked.Concerns = true
	missing := func(kind, name string) run.Concern {
		return run.Concern{Step: "uses", Why: kind + ` "` + name + `" not found: create it in namespace kubeflow, and the step goes on`}
	}
	later := missing("configmap", "settings")
	later.Step = "later"
	laterClaim := missing("persistentvolumeclaim", "data")
	laterClaim.Step = "later"
	image := run.Concern{Step: "odd", Why: `"Not An Image" is not the name of an image: correct it in the step`}
	exceeded := "asks 3 of requests.cpu; the quota team of namespace kubeflow allows 2: ask for less, or raise the quota"

	e, _, kube := laptop(there...)
	p, err := e.Prepare(t.Context(), []byte(refers), asked)
	require.NoError(t, err)
	require.ElementsMatch(t, []run.Concern{
		missing("secret", "absent"), missing("configmap", "settings"), missing("persistentvolumeclaim", "data"), image,
		later, laterClaim,
		{Step: "uses", Why: exceeded},
		{Step: "later", Why: exceeded},
	}, p.Concerns)

	p, err = e.Prepare(t.Context(), []byte(refers), options())
	require.NoError(t, err)
	require.Empty(t, p.Concerns, "they were not asked for")

	kube.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: action.GetResource().Resource}, "", nil)
	})
	p, err = e.Prepare(t.Context(), []byte(refers), asked)
	require.NoError(t, err)
	require.Equal(t, []run.Concern{image}, p.Concerns, "what the server may not read is passed over")
}
