package compiler_test

import (
	"github.com/argosy-ml/argosy/sdk/dsl"
)

type row struct {
	Name  string
	Count int
}

// managed makes objects of Kubernetes, and goes through items by their fields.
func managed() *dsl.Pipeline {
	p := dsl.New("managed", dsl.ImagePullSecrets("registry"))
	size := dsl.Param(p, "size", "1Gi")
	claim := dsl.Manage(p, "claim", dsl.Resource{
		Action: "create",
		Manifest: dsl.Sprintf(`apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: %v-claim
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: %v}}
`, dsl.Argo("workflow.name"), size),
		Owned: true,
	}, dsl.Retries(dsl.Retry{Limit: dsl.Lit(2)}))
	name := dsl.FieldOutput[string](claim, "name", "{.metadata.name}")
	dsl.Each(p, dsl.Lit([]row{{"a", 1}, {"b", 2}}), func(item dsl.Value[row]) any {
		dsl.Run(p, "write", dsl.Container{
			Image: alpine, Command: dsl.Args("write", dsl.Field[string](item, "Name"), dsl.Field[int](item, "Count")),
		},
			dsl.Mount("/data", dsl.Claim(name)),
			dsl.Sidecar("beside", dsl.Container{Image: alpine}, dsl.OwnMounts()))
		return nil
	})
	job := dsl.Manage(p, "job", dsl.Resource{
		Action:           "patch",
		MergeStrategy:    "merge",
		Manifest:         dsl.Lit("apiVersion: batch/v1\nkind: Job\nmetadata: {name: job}\nspec: {suspend: false}\n"),
		SuccessCondition: dsl.Lit("status.succeeded > 0"),
		FailureCondition: dsl.Sprintf("status.failed > %v", dsl.Param(p, "tries", 3)),
		Flags:            dsl.Args("--field-manager=argosy"),
	}, dsl.After(claim))
	dsl.Run(p, "end", dsl.Container{Image: alpine, Args: dsl.Args(dsl.FieldOutput[int](job, "done", "{.status.succeeded}"))})
	return p
}

// pasted has values stand as they are where Kubernetes reads them, and items that are put together.
func pasted() *dsl.Pipeline {
	p := dsl.New("pasted", dsl.PasteValues())
	text := dsl.Param(p, "text", "$(WHO)")
	items := dsl.Value[[]string](dsl.Sprintf(`["first %v", "$(second)"]`, text))
	dsl.Each(p, items, func(item dsl.Value[string]) any {
		dsl.Run(p, "say", dsl.Container{
			Image: alpine, Command: dsl.Args("echo", text, item, "$(WHO) $$", dsl.EnvOf("WHO")), Env: dsl.Env{"WHO": dsl.Lit("me")},
		})
		return nil
	})
	dsl.Run(p, "say-2", dsl.Container{Image: alpine, Command: dsl.Args("echo", text, "b", "$(WHO) $$", dsl.EnvOf("WHO")), Env: dsl.Env{"WHO": dsl.Lit("you")}})
	return p
}
