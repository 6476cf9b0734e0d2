package compiler_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/argoproj/argo-workflows/v3/util/template"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

type texts = map[string]dsl.Value[string]

// options sets every option of a step, some with constants and some with parameters.
func options() *dsl.Pipeline {
	p := dsl.New("options")
	memory := dsl.Param(p, "memory", "2Gi")
	gpus := dsl.Param(p, "gpus", 1)
	name := dsl.Param(p, "name", "team-a")
	limit := dsl.Param(p, "limit", 90*time.Minute)
	dsl.Run(p, "constants", dsl.Container{
		Image: alpine,
		Args:  dsl.Args("echo", "$(HOME)", dsl.EnvOf("PASSWORD")),
		Env: dsl.Env{
			"PASSWORD": dsl.Secret("login", "password"),
			"MODE":     dsl.ConfigMap("settings", "mode"),
			"PRICE":    dsl.Lit("$$5"),
		},
	},
		dsl.Requests(dsl.Resources{CPU: dsl.Lit("500m"), Memory: dsl.Lit("1Gi")}),
		dsl.Limits(dsl.Resources{Memory: dsl.Lit("2Gi"), Storage: dsl.Lit("1G"), Others: texts{"rdma/hca": dsl.Lit("1")}}),
		dsl.GPUs(dsl.Lit(2), dsl.AMD),
		dsl.Variables(dsl.Env{"EXTRA": dsl.Lit("more")}),
		dsl.SecretEnv("login"), dsl.ConfigMapEnv("settings"),
		dsl.Mount("/data", dsl.Claim(dsl.Lit("training-data")).ReadOnly()),
		dsl.Mount("/code", dsl.Claim(dsl.Lit("training-data")).SubPath(dsl.Lit("code"))),
		dsl.Mount("/etc/login", dsl.SecretFiles(dsl.Lit("login"))),
		dsl.Mount("/etc/settings", dsl.ConfigMapFiles(dsl.Lit("settings"))),
		dsl.Mount("/host", dsl.HostPath(dsl.Lit("/var/log"))),
		dsl.Mount("/tmp/scratch", dsl.Scratch("10Gi")),
		dsl.Mount("/dev/shm", dsl.SharedMemory("1Gi")),
		dsl.NodeSelector(texts{"disk": dsl.Lit("ssd")}),
		dsl.Tolerate(dsl.Toleration{Key: "gpu", Value: dsl.Lit("yes"), Effect: "NoSchedule"},
			dsl.Toleration{Effect: "NoExecute", For: time.Minute}),
		dsl.Near(dsl.Affinity{
			Nodes:       []dsl.NodeTerm{{Labels: []dsl.Requirement{{Key: "zone", Values: dsl.Args("a", "b")}, {Key: "gpu"}}}},
			PreferNodes: []dsl.NodeTerm{{Weight: 10, Labels: []dsl.Requirement{{Key: "cores", Operator: "Gt", Values: dsl.Args("16")}}}},
			Pods:        []dsl.PodTerm{{Labels: []dsl.Requirement{{Key: "app", Values: dsl.Args("cache")}}, Topology: "topology.kubernetes.io/zone"}},
			PreferPods:  []dsl.PodTerm{{Labels: []dsl.Requirement{{Key: "app"}}}},
			AvoidPods:   []dsl.PodTerm{{Labels: []dsl.Requirement{{Key: "loud", Operator: "Exists"}}}},
			ShunPods:    []dsl.PodTerm{{Weight: 100, Labels: []dsl.Requirement{{Key: "app", Operator: "NotIn", Values: dsl.Args("x")}}}},
		}),
		dsl.Retries(dsl.Retry{
			Limit: dsl.Lit(3), Policy: dsl.RetryAlways, When: "asInt(lastRetry.exitCode) == 75",
			Backoff: dsl.Backoff{Wait: dsl.Lit(10 * time.Second), MaxWait: dsl.Lit(time.Minute), MaxTime: dsl.Lit(time.Hour)},
		}),
		dsl.Timeout(dsl.Lit(2*time.Hour)),
		dsl.CacheKey(dsl.Lit("v1")), dsl.CacheFor(24*time.Hour),
		dsl.Sidecar("proxy", dsl.Container{Image: alpine, Command: dsl.Args("serve")}, dsl.Limits(dsl.Resources{CPU: dsl.Lit("1")})),
		dsl.InitContainer("fetch", dsl.Container{Image: alpine, Command: dsl.Args("cp", "a", "/data")}),
		dsl.Labels(texts{"team": dsl.Lit("vision")}),
		dsl.Annotations(texts{"example.com/why": dsl.Lit("because: yes")}),
		dsl.ServiceAccount(dsl.Lit("trainer")), dsl.Priority(dsl.Lit("high")), dsl.Scheduler(dsl.Lit("volcano")),
		dsl.PodSpecPatch(dsl.Lit(`{"hostNetwork":true}`)),
	)
	dsl.Run(p, "values", dsl.Container{Image: alpine},
		dsl.Requests(dsl.Resources{Memory: memory}),
		dsl.Limits(dsl.Resources{CPU: dsl.Lit("1"), Memory: memory}),
		dsl.GPUs(gpus),
		dsl.Mount("/data", dsl.Claim(name).SubPath(dsl.Sprintf("runs/%v", dsl.Argo("workflow.name")))),
		dsl.NodeSelector(texts{"team": name}),
		dsl.Tolerate(dsl.Toleration{Key: "team", Value: name}),
		dsl.Retries(dsl.Retry{Limit: dsl.Param(p, "retries", 2)}),
		dsl.Timeout(limit),
		dsl.CacheKey(dsl.Sprintf("%v-%v", name, gpus)),
		dsl.Sidecar("proxy", dsl.Container{Image: alpine, Args: dsl.Args(name)}, dsl.Limits(dsl.Resources{Memory: memory})),
		dsl.Labels(texts{"team": name}),
		dsl.Annotations(texts{"team": dsl.Sprintf("<%v>", name)}),
		dsl.ServiceAccount(name), dsl.Priority(name), dsl.Scheduler(name),
		dsl.PodSpecPatch(dsl.Sprintf(`{"hostname":"%v","containers":[{"name":"main","tty":true}]}`, name)),
	)
	dsl.Run(p, "fresh", dsl.Container{Image: alpine}, dsl.NoCache(), dsl.Queue(dsl.Lit("research")))
	return p
}

// settings sets what concerns a whole pipeline.
func settings() *dsl.Pipeline {
	p := dsl.New("settings",
		dsl.Parallelism(4), dsl.Timeout(dsl.Lit(3*time.Hour)), dsl.TTL(time.Hour, 24*time.Hour),
		dsl.ServiceAccount(dsl.Lit("trainer")), dsl.ImagePullSecrets("registry"),
		dsl.Labels(texts{"team": dsl.Lit("vision")}), dsl.Annotations(texts{"example.com/ticket": dsl.Lit("42")}))
	p.Defaults(
		dsl.Limits(dsl.Resources{Memory: dsl.Lit("1Gi"), CPU: dsl.Lit("1")}),
		dsl.Variables(dsl.Env{"LOG": dsl.Lit("info"), "MODE": dsl.Lit("quiet")}),
		dsl.Retries(dsl.Retry{Limit: dsl.Lit(1)}),
	)
	work := p.NewClaim("work", "10Gi", dsl.StorageClass("fast"), dsl.ReadWriteMany())
	one := dsl.Run(p, "one", dsl.Container{Image: alpine, Env: dsl.Env{"MODE": dsl.Lit("loud")}}, dsl.Mount("/work", work))
	dsl.Run(p, "two", dsl.Container{Image: alpine}, dsl.Mount("/work", work), dsl.After(one),
		dsl.Limits(dsl.Resources{Memory: dsl.Lit("8Gi")}), dsl.Retries(dsl.Retry{Limit: dsl.Lit(5)}))
	return p
}

// What is known late becomes, once it is known, what would have been written had it been known at once.
func TestLateValuesOfOptions(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(options())
	require.NoError(t, err)
	tmpl := validate(t, manifest).GetTemplateByName("values")

	deadline, err := template.Replace(`"`+tmpl.ActiveDeadlineSeconds.String()+`"`, map[string]any{"inputs.parameters.limit": "1h30m0s"}, false)
	require.NoError(t, err)
	require.Equal(t, `"5400"`, deadline)
	require.JSONEq(t, `{"hostname":"{{inputs.parameters.name}}","containers":[
		{"name":"main","tty":true,"resources":{
			"requests":{"memory":"{{inputs.parameters.memory}}"},
			"limits":{"memory":"{{inputs.parameters.memory}}","nvidia.com/gpu":"{{inputs.parameters.gpus}}"}}},
		{"name":"proxy","resources":{"limits":{"memory":"{{inputs.parameters.memory}}"}}}]}`, tmpl.PodSpecPatch)
	require.Equal(t, corev1.ResourceList{"cpu": tmpl.Container.Resources.Limits["cpu"]}, tmpl.Container.Resources.Limits)
}

// A patch may hold values other than text, beside resources that are values: both arrive in one patch.
func TestPatchWithValues(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	n, memory := dsl.Param(p, "n", 1), dsl.Param(p, "memory", "1Gi")
	dsl.Run(p, "s", dsl.Container{Image: alpine}, dsl.Limits(dsl.Resources{Memory: memory}),
		dsl.PodSpecPatch(dsl.Sprintf(`{"terminationGracePeriodSeconds": %v, "hostname": "h-%v", "priority": 12345678901234567890}`, n, n)))
	whole := dsl.Param(p, "patch", "{}")
	dsl.Run(p, "whole", dsl.Container{Image: alpine}, dsl.PodSpecPatch(whole))
	manifest, err := compiler.Compile(p)
	require.NoError(t, err)
	wf := validate(t, manifest)
	require.Equal(t, `{"containers":[{"name":"main","resources":{"limits":{"memory":"{{inputs.parameters.memory}}"}}}],"hostname":"h-{{inputs.parameters.n}}","priority":12345678901234567890,"terminationGracePeriodSeconds":{{inputs.parameters.n}}}`, wf.GetTemplateByName("s").PodSpecPatch)
	require.Equal(t, "{{inputs.parameters.patch}}", wf.GetTemplateByName("whole").PodSpecPatch)

	wrong := dsl.New("wrong")
	late := dsl.Limits(dsl.Resources{Memory: dsl.Param(wrong, "memory", "1Gi")})
	patch := dsl.Param(wrong, "patch", "{}")
	dsl.Run(wrong, "a", dsl.Container{Image: alpine}, late, dsl.PodSpecPatch(patch))
	dsl.Run(wrong, "b", dsl.Container{Image: alpine}, dsl.PodSpecPatch(dsl.Sprintf(`{"a": %v`, patch)))
	dsl.Run(wrong, "c", dsl.Container{Image: alpine}, dsl.PodSpecPatch(patch), dsl.Sidecar("x", dsl.Container{Image: alpine}, late))
	_, err = compiler.Compile(wrong)
	whereOf := regexp.MustCompile(`pod_test.go:\d+: step`)
	require.Equal(t, `FILE a: PodSpecPatch is a value as a whole, and so cannot be merged with Requests or Limits that are values: write its braces and keys in the pipeline
FILE b: PodSpecPatch is not a JSON object: unexpected EOF
FILE c: PodSpecPatch is a value as a whole, and so cannot be merged with Requests or Limits that are values: write its braces and keys in the pipeline`, whereOf.ReplaceAllString(err.Error(), "FILE"))
}

// Containers beside a step see its volumes; what they mount themselves is there once.
func TestMountsOfSidecars(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	data, other := dsl.Mount("/data", dsl.Claim(dsl.Lit("data"))), dsl.Mount("/other", dsl.Scratch(""))
	c := dsl.Container{Image: alpine}
	dsl.Run(p, "s", c, data, other,
		dsl.Sidecar("none", c), dsl.Sidecar("same", c, data), dsl.Sidecar("more", c, dsl.Mount("/more", dsl.Scratch(""))),
		dsl.InitContainer("else", c, dsl.Mount("/data", dsl.Claim(dsl.Lit("data")).ReadOnly())))
	manifest, err := compiler.Compile(p)
	require.NoError(t, err)
	tmpl := validate(t, manifest).GetTemplateByName("s")
	got := map[string][]string{}
	for _, c := range append(tmpl.Sidecars, tmpl.InitContainers...) {
		paths := []string{fmt.Sprint(*c.MirrorVolumeMounts)}
		for _, m := range c.VolumeMounts {
			paths = append(paths, fmt.Sprintf("%s %v", m.MountPath, m.ReadOnly))
		}
		got[c.Name] = paths
	}
	require.Equal(t, map[string][]string{"none": {"true"}, "same": {"true"}, "more": {"true", "/more false"}, "else": {"false", "/data true", "/other false"}}, got)
}

// What a step sets itself goes before the defaults.
func TestDefaultsGiveWay(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(settings())
	require.NoError(t, err)
	wf := validate(t, manifest)
	one, two := wf.GetTemplateByName("one"), wf.GetTemplateByName("two")
	require.Equal(t, []corev1.EnvVar{{Name: "LOG", Value: "info"}, {Name: "MODE", Value: "loud"}}, one.Container.Env)
	require.Equal(t, "1Gi", one.Container.Resources.Limits.Memory().String())
	require.Equal(t, "8Gi", two.Container.Resources.Limits.Memory().String())
	require.Equal(t, "1", two.Container.Resources.Limits.Cpu().String())
	require.Equal(t, "5", two.RetryStrategy.Limit.String())
}
