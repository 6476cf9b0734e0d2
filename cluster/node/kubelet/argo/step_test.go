package argo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// argoPod is a pod as Argo's controller makes it for a template.
func argoPod(template string, change ...func(*corev1.Pod)) *corev1.Pod {
	obj := &corev1.Pod{}
	obj.Labels = map[string]string{}
	obj.Labels["workflows.argoproj.io/workflow"] = "wf"
	obj.Spec.Volumes = []corev1.Volume{{Name: Volume}, {Name: staging}}
	volume := []corev1.VolumeMount{{Name: Volume, MountPath: "/var/run/argo"}}
	obj.Spec.InitContainers = []corev1.Container{{
		Name: "init", Image: "quay.io/argoproj/argoexec:v3.7.18", Command: []string{"argoexec", "init"}, VolumeMounts: volume,
		Env: []corev1.EnvVar{{Name: templateVariable, Value: template}},
	}}
	obj.Spec.Containers = []corev1.Container{
		{Name: "wait", Image: "quay.io/argoproj/argoexec:v3.7.18", Command: []string{"argoexec", "wait"}, VolumeMounts: volume, Env: []corev1.EnvVar{
			{Name: "ARGO_NODE_ID", Value: "node-1"}, {Name: "ARGO_DEADLINE", Value: "0001-01-01T00:00:00Z"}, {Name: "ARGO_PROGRESS_FILE", Value: "/var/run/argo/progress"},
		}},
		{Name: "main", Image: "busybox", Command: []string{"/var/run/argo/argoexec", "emissary", "--", "echo", "hi"}, VolumeMounts: volume},
	}
	for _, c := range change {
		c(obj)
	}
	return obj
}

func TestFastPaths(t *testing.T) {
	t.Parallel()
	type parts struct{ init, wait, emissary bool }
	const plain = `{"name":"t","container":{"image":"busybox","command":["echo"]}`
	for name, c := range map[string]struct {
		template string
		change   func(*corev1.Pod)
		want     parts
	}{
		"plain":                     {plain + `}`, nil, parts{true, true, true}},
		"output parameter":          {plain + `,"outputs":{"parameters":[{"name":"x","valueFrom":{"path":"/tmp/x","default":"1"}}]}}`, nil, parts{true, true, true}},
		"no archived logs":          {plain + `,"archiveLocation":{"archiveLogs":false}}`, nil, parts{true, true, true}},
		"archived logs":             {plain + `,"archiveLocation":{"archiveLogs":true}}`, nil, parts{true, false, true}},
		"input artifact":            {plain + `,"inputs":{"artifacts":[{"name":"a","path":"/a"}]}}`, nil, parts{false, true, true}},
		"output artifact":           {plain + `,"outputs":{"artifacts":[{"name":"a","path":"/a"}]}}`, nil, parts{true, false, true}},
		"sidecar":                   {plain + `,"sidecars":[{"name":"s"}]}`, nil, parts{true, true, true}},
		"script":                    {`{"name":"t","script":{"image":"x","source":"y"}}`, nil, parts{true, true, true}},
		"script without its volume": {`{"name":"t","script":{"image":"x","source":"y"}}`, func(o *corev1.Pod) { o.Spec.Volumes = o.Spec.Volumes[:1] }, parts{false, true, true}},
		"resource":                  {`{"name":"t","resource":{"action":"get"}}`, nil, parts{false, false, true}},
		"container set":             {`{"name":"t","containerSet":{"containers":[{"name":"a"}]}}`, nil, parts{true, false, true}},
		"parameter on volume":       {`{"container":{"volumeMounts":[{"name":"v","mountPath":"/mnt/"}]},"outputs":{"parameters":[{"name":"x","valueFrom":{"path":"/mnt/x"}}]}}`, nil, parts{true, false, true}},
		"parameter in an artifact":  {`{"container":{},"inputs":{"artifacts":[{"name":"a","path":"/in"}]},"outputs":{"parameters":[{"name":"x","valueFrom":{"path":"/in/x"}}]}}`, nil, parts{false, false, true}},
		"parameter that is none":    {plain + `,"outputs":{"parameters":[null]}}`, nil, parts{true, true, true}},
		"not a template":            {`{`, nil, parts{}},
		"template elsewhere":        {`offloaded`, nil, parts{}},
		"deadline":                  {plain + `}`, func(o *corev1.Pod) { o.Spec.Containers[0].Env[1].Value = "2030-01-01T00:00:00Z" }, parts{true, false, true}},
		"paused for debugging": {plain + `}`, func(o *corev1.Pod) {
			o.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "ARGO_DEBUG_PAUSE_AFTER", Value: "true"}}
		}, parts{true, true, false}},
		"left to Argo": {plain + `}`, func(o *corev1.Pod) {
			o.Annotations = map[string]string{"argosy.dev/executor": "argo"}
		}, parts{}},
		"not Argo's":     {plain + `}`, func(o *corev1.Pod) { o.Labels = nil }, parts{}},
		"own init image": {plain + `}`, func(o *corev1.Pod) { o.Spec.InitContainers[0].Image = "busybox" }, parts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := c.change
			if change == nil {
				change = func(*corev1.Pod) {}
			}
			obj := argoPod(c.template, change)
			p := StepOf(obj)
			got := parts{
				init:     p.Plays(&obj.Spec.InitContainers[0]),
				wait:     p.Plays(&obj.Spec.Containers[0]),
				emissary: p.PlainEmissary(&obj.Spec.Containers[1]),
			}
			require.Equal(t, c.want, got)
		})
	}
}

// The emissary of a plain step does not read the template: it must not miss anything there.
func TestPlainSteps(t *testing.T) {
	t.Parallel()
	const plain = `{"name":"t","container":{"image":"busybox","command":["echo"]}`
	for template, want := range map[string]bool{
		plain + `}`: true,
		plain + `,"outputs":{"parameters":[{"name":"x","valueFrom":{"path":"/tmp/x"}}]}}`: false,
		plain + `,"outputs":{"artifacts":[{"name":"a","path":"/a"}]}}`:                    false,
		plain + `,"archiveLocation":{"archiveLogs":true}}`:                                false,
		`{"name":"t","containerSet":{"containers":[{"name":"main"}]}}`:                    false,
	} {
		obj := argoPod(template)
		s := StepOf(obj)
		require.Equal(t, want, s.Plain(&obj.Spec.Containers[1]), template)
		require.False(t, s.Plain(&obj.Spec.Containers[0]), "only the command itself is plain")
	}
}

// Argo's executor finds the template in a variable, so that $$ in a script is $ and $(NAME) stays: here too.
func TestTemplateIsExpanded(t *testing.T) {
	t.Parallel()
	s := StepOf(argoPod(`{"name":"t","script":{"image":"x","source":"echo $$$$ $$(A) $(B)"}}`))
	require.NotNil(t, s)
	require.Equal(t, "echo $$ $(A) $(B)", s.Template.Script.Source)
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	obj := argoPod(`{"container":{},"outputs":{"parameters":[{"name":"a","globalName":"g","valueFrom":{"path":"/tmp/a"}},` +
		`{"name":"b","valueFrom":{"path":"/none","default":7}},{"name":"c","valueFrom":{"expression":"x"}}]}}`)
	obj.Spec.Containers[0].Env = append(obj.Spec.Containers[0].Env, corev1.EnvVar{Name: "ARGO_INCLUDE_SCRIPT_OUTPUT", Value: "true"})
	root := t.TempDir()
	p := testExecutor(obj, root)
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	write("outputs/parameters/tmp/a", "42\n\n")
	write("ctr/main/stdout", "result\n")
	out, err := p.outputs()
	require.NoError(t, err)
	params, err := json.Marshal(out["parameters"])
	require.NoError(t, err)
	require.JSONEq(t, `[{"name":"a","globalName":"g","valueFrom":{"path":"/tmp/a"},"value":"42\n"},`+ // one line feed is taken off
		`{"name":"b","valueFrom":{"path":"/none","default":7},"value":"7"},{"name":"c","valueFrom":{"expression":"x"}}]`, string(params))
	require.Equal(t, "result", out["result"])

	// A result is the last 256 KiB of the output, without one line feed at the end.
	write("ctr/main/stdout", strings.Repeat("x", maxOutput)+"\n")
	out, err = p.outputs()
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", maxResult), out["result"])

	require.NoError(t, os.Remove(filepath.Join(root, "outputs/parameters/tmp/a")))
	_, err = testExecutor(obj, root).outputs()
	require.EqualError(t, err, "open /var/run/argo/outputs/parameters/tmp/a: no such file or directory")
}

func testExecutor(obj *corev1.Pod, root string) *Executor {
	return &Executor{Step: StepOf(obj), Pod: obj, Volumes: map[string]string{Volume: root}}
}

func TestReadProgress(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := testExecutor(argoPod(`{"container":{}}`), root)
	require.Empty(t, p.readProgress())
	for text, want := range map[string]string{"3/10": "3/10", "1/10\n2/10\n": "2/10", "11/10": "", "x": "", "1/0": "", "-1/2": "", "1/2/3": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "progress"), []byte(text), 0o600))
		require.Equal(t, want, p.readProgress(), text)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	sig, ok := Kill([]string{"/var/run/argo/argoexec", "kill", "15", "1"})
	require.True(t, ok)
	require.Equal(t, syscall.SIGTERM, sig)
	for _, other := range [][]string{{"kill", "15", "1"}, {"argoexec", "kill", "15", "2"}, {"argoexec", "kill", "x", "1"}, {"argoexec", "kill", "0", "1"}, {"argoexec", "version"}, nil} {
		_, ok := Kill(other)
		require.False(t, ok, other)
	}
}
