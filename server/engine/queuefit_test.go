package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

func queueOf(t *testing.T, name, state, capability string) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: %s}, spec: {capability: %s}, status: {state: %s}}`, name, capability, state))
}

// inQueues has a job and steps in a queue that is a parameter, and a step whose queue is not known before it runs.
func inQueues(t *testing.T) []byte {
	t.Helper()
	p := dsl.New("queues")
	queue := dsl.Param(p, "queue", "small")
	train.PyTorchJob(p, "fit", train.PyTorch{
		Image: dsl.Lit("busybox"), Command: dsl.Lit("train"), Workers: dsl.Lit(2), CPU: dsl.Param(p, "cpu_limit", "1"), Queue: queue,
	})
	c := dsl.Container{Image: dsl.Lit("busybox"), Command: dsl.Args("true")}
	two := dsl.Limits(dsl.Resources{CPU: dsl.Lit("2")})
	dsl.Run(p, "prepare", c, two, dsl.Queue(queue))
	chosen := dsl.Output[string](dsl.Run(p, "choose", c), "queue", "/queue")
	dsl.Run(p, "later", c, two, dsl.Queue(chosen))
	manifest, err := compiler.Compile(p)
	require.NoError(t, err)
	return manifest
}

func TestWarnsOfQueues(t *testing.T) {
	t.Parallel()
	const (
		raise = ", choose another queue, or raise its limit with argosy queue set small --capability cpu=2"
		fit   = "step fit asks 1 master x 1 CPU + 1 worker x 1 CPU = 2; queue small may have 1: lower cpu_limit" + raise
		alone = "step prepare asks 2 CPUs; queue small may have 1: lower the CPU limit of the step" + raise
		gone  = "there is no queue tiny: create it, or choose another"
		shut  = "queue shut is closed and takes no gangs: open it, or choose another queue"
	)
	in := func(queue string) run.Options {
		o := options(run.Parameter{Name: "queue", Value: queue})
		o.Concerns = true
		return o
	}
	queues := enginetest.NewDynamic(queueOf(t, "small", "Open", "{cpu: 1}"), queueOf(t, "large", "Open", "{cpu: 2}"), queueOf(t, "shut", "Closed", "{}"))
	for queue, c := range map[string]struct {
		warnings []string
		concerns []run.Concern
	}{
		"small": {warnings: []string{fit, alone}},
		"large": {},
		"shut":  {concerns: []run.Concern{{Step: "fit", Why: shut}, {Step: "prepare", Why: shut}}},
		"tiny":  {concerns: []run.Concern{{Step: "fit", Why: gone}, {Step: "prepare", Why: gone}}},
	} {
		for _, scalesUp := range []bool{false, true} {
			e, _, _ := laptopOf(queues)
			e.ScalesUp(scalesUp)
			p, err := e.Prepare(t.Context(), inQueues(t), in(queue))
			require.NoError(t, err)
			require.ElementsMatch(t, c.warnings, p.Warnings(), "a queue's limit does not grow with the cluster: %s", queue)
			require.ElementsMatch(t, c.concerns, p.Concerns, queue)
			require.Equal(t, !scalesUp, p.Checked)
		}
	}

	hidden := enginetest.NewDynamic(queueOf(t, "small", "Open", "{cpu: 1}"))
	hidden.PrependReactor("list", "queues", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "queues"}, "", nil)
	})
	e, _, _ := laptopOf(hidden)
	p, err := e.Prepare(t.Context(), inQueues(t), in("small"))
	require.NoError(t, err)
	require.Empty(t, p.Warnings(), "what the server may not read is passed over")
	require.Empty(t, p.Concerns)
	require.False(t, p.Checked)

	e, _, _ = laptopOf(enginetest.WithoutVolcano(enginetest.NewDynamic()))
	p, err = e.Prepare(t.Context(), inQueues(t), in("small"))
	require.NoError(t, err)
	require.Empty(t, p.Warnings())
	require.Empty(t, p.Concerns)
}
