//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// imports reads data that no step of the run has made: behind URLs, in git repositories, and of an earlier run. A source that
// is not there fails the step, which says why.
func (a *argosy) imports(t *testing.T) {
	commit := a.serveData(t)
	model, folder := a.earlier(t)

	p := dsl.New("imports")
	server := dsl.Param(p, "server", "files:8000")
	url := func(path string) dsl.Source { return dsl.FromHTTP(dsl.Sprintf("http://%v/%s", server, path)) }
	words := dsl.Import[dsl.Dataset](p, url("words.txt?new=1&old=0"))
	packed := dsl.Import[dsl.Dataset](p, url("packed.tar.gz"))
	script(p, "http", `cat "$0"; tar -tzf "$1"`, words, packed)
	type in struct{ Words dsl.File[dsl.Dataset] }
	type out struct{ *dsl.Step }
	dsl.Sub(p, "inside", in{words}, func(in in) out {
		return out{script(p, "http-inside", `cat "$0"`, in.Words)}
	})

	code := func(scheme, host string, revision dsl.Value[string]) dsl.File[dsl.Dataset] {
		return dsl.Import[dsl.Dataset](p, dsl.FromGit(dsl.Sprintf("%s://%v/git/code.git", scheme, host), revision))
	}
	script(p, "git", `cat "$0"/text "$1"/text`, code("http", "files:8000", dsl.Value[string]{}), code("git", "files", dsl.Value[string]{}))
	revisions := dsl.Each(p, dsl.Lit([]string{"other", "v1", commit}), func(revision dsl.Value[string]) dsl.File[dsl.Dataset] {
		s := script(p, "git-revision", `cat "$0"/text > /tmp/text`, code("http", "files:8000", revision))
		return dsl.OutputFile[dsl.Dataset](s, "text", "/tmp/text")
	})
	script(p, "git-revisions", `cat "$0"/*`, dsl.CollectFiles(revisions))

	script(p, "key", `cat "$0"; cd "$1"; find . -type f | sort`,
		dsl.Import[dsl.Model](p, dsl.FromKey(dsl.Param(p, "model", model))), dsl.Import[dsl.Dataset](p, dsl.FromKey(dsl.Lit(folder))))

	run := a.runs(t, p)
	require.Equal(t, "some words\ninside\n", a.stepLog(t, run, "http"))
	require.Equal(t, "some words\n", a.stepLog(t, run, "http-inside"))
	require.Equal(t, "main\nmain\n", a.stepLog(t, run, "git"))
	require.Equal(t, "other\nfirst\nfirst\n", a.stepLog(t, run, "git-revisions"), "a branch, a tag, a commit")
	require.Equal(t, "a model\n./deep/down\n./top\n", a.stepLog(t, run, "key"))

	for says, missing := range map[string]struct {
		source dsl.Source
		where  string
	}{
		"404 File not found":               {dsl.FromHTTP(dsl.Lit("http://files:8000/nothing?signature=1")), "http://files:8000/nothing"},
		"reference not found":              {dsl.FromGit(dsl.Lit("http://files:8000/git/code.git"), dsl.Lit("nowhere")), "http://files:8000/git/code.git at nowhere"},
		"The specified key does not exist": {dsl.FromKey(dsl.Lit("nothing/of/the/kind")), "key nothing/of/the/kind"},
	} {
		p := dsl.New("missing")
		script(p, "read", `cat "$0"`, dsl.Import[dsl.Dataset](p, missing.source))
		workflow, err := compiler.Compile(p)
		require.NoError(t, err)
		created, err := a.sdk(t).Runs.Create(t.Context(), client.NewRun{Name: p.Name(), Manifest: string(workflow)})
		require.NoError(t, err)
		run := a.await(t, created.ID, 3*time.Minute, runView.final)
		require.Equal(t, "Error", run.Status)
		require.Contains(t, run.Nodes[run.node(t, "read")].Message, "artifact import-1 failed to load: ")
		require.Contains(t, run.Nodes[run.node(t, "read")].Message, says)
		require.True(t, strings.HasSuffix(run.Nodes[run.node(t, "read")].Message, " (import-1 is "+missing.where+")"), "where it was looked for: %s", run.Nodes[run.node(t, "read")].Message)
	}
}

// earlier runs a pipeline that leaves a file and a folder, and gives their keys in the artifact repository.
func (a *argosy) earlier(t *testing.T) (model, folder string) {
	p := dsl.New("earlier")
	s := script(p, "leave", `echo a model > /tmp/model; mkdir -p /tmp/tree/deep; touch /tmp/tree/top /tmp/tree/deep/down`)
	dsl.OutputFile[dsl.Model](s, "model", "/tmp/model")
	dsl.OutputFile[dsl.Dataset](s, "tree", "/tmp/tree")
	run, err := a.sdk(t).Runs.Get(t.Context(), a.runs(t, p).ID)
	require.NoError(t, err)
	keys := map[string]string{}
	for _, n := range run.Nodes {
		for _, artifact := range n.Artifacts {
			keys[artifact.Name] = artifact.Key
		}
	}
	require.Len(t, keys, 2, "%+v", run.Nodes)
	return keys["model"], keys["tree"]
}

// serveData has a pod of the cluster serve files and a repository, by HTTP and by git's own protocol, under the name "files". It
// gives the repository's first commit.
func (a *argosy) serveData(t *testing.T) (commit string) {
	t.Helper()
	folder := filepath.Join(a.home, "shared", "files")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "web"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "web", "words.txt"), []byte("some words\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "inside"), nil, 0o644))
	do := func(program string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		require.NoError(t, err, "%s %v: %s", program, args, out)
		return strings.TrimSpace(string(out))
	}
	do("tar", "-C", folder, "-czf", filepath.Join(folder, "web", "packed.tar.gz"), "inside")
	work := filepath.Join(t.TempDir(), "code")
	git := func(args ...string) string {
		t.Helper()
		return do("git", append([]string{"-C", work, "-c", "user.name=test", "-c", "user.email=test@example.org"}, args...)...)
	}
	do("git", "init", "-q", "-b", "main", work)
	write := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(work, "text"), []byte(text+"\n"), 0o644))
		git("add", "text")
		git("commit", "-q", "-m", text)
	}
	write("first")
	git("tag", "v1")
	commit = git("rev-parse", "HEAD")
	git("checkout", "-q", "-b", "other")
	write("other")
	git("checkout", "-q", "main")
	write("main")
	do("git", "clone", "-q", "--bare", work, filepath.Join(folder, "git", "code.git"))

	program, err := filepath.Abs("testdata/served.py")
	require.NoError(t, err)
	do("cp", program, folder)
	cluster := clientOf(t, a.home).CoreV1()
	_, err = cluster.Services("kubeflow").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "files"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "files"}, Ports: []corev1.ServicePort{
			{Name: "http", Port: 8000}, {Name: "git", Port: 9418},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	pods := cluster.Pods("kubeflow")
	_, err = pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "files", Labels: map[string]string{"app": "files"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{
				Name: "http", Image: "host", Command: []string{"python3", filepath.Join(folder, "served.py"), folder},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/words.txt", Port: intstr.FromInt32(8000)}}},
			},
			{
				Name: "git", Image: "host", Command: []string{"git", "-c", "safe.directory=*", "daemon", "--export-all", "--base-path=" + folder, "--reuseaddr"},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(9418)}}},
			},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	watching, err := pods.Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: "files"}))
	require.NoError(t, err)
	defer watching.Stop()
	for e := range watching.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if ok && len(pod.Status.ContainerStatuses) == 2 && pod.Status.ContainerStatuses[0].Ready && pod.Status.ContainerStatuses[1].Ready {
			return commit
		}
	}
	t.Fatal("the pod that serves files is not ready")
	return ""
}
