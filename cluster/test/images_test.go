package test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestImages(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Run("ordinary user", func(t *testing.T) { imageTests(t, up(t, t.TempDir(), "--images", "auto"), true) })
		return
	}
	t.Run("root", func(t *testing.T) { t.Parallel(); imageTests(t, up(t, t.TempDir(), "--images", "auto"), false) })
	t.Run("ordinary user", func(t *testing.T) { t.Parallel(); imageTests(t, upAs(t, nobody, "--images", "auto"), true) })
	t.Run("ordinary user with subordinate ids", func(t *testing.T) { t.Parallel(); imageTests(t, upWithRanges(t, "--images", "auto"), false) })
}

func imageTests(t *testing.T, c *cluster, single bool) {
	h := newHub(t)
	i := imageTest{c, h, single}
	t.Run("are pulled once and run", i.testRun)
	t.Run("merge commands and arguments", i.testCommands)
	t.Run("are not changed by containers", i.testIsolation)
	t.Run("say which user runs them", i.testUser)
	t.Run("are asked for again where a pod wants that", i.testAlways)
	t.Run("are waited for", i.testRefusals)
	t.Run("need credentials when private", i.testPrivate)
	t.Run("give way to this machine's files without a registry", i.testUnreachable)
	t.Run("are loaded, listed and removed", i.testLoad)
	t.Run("run commands of kubectl exec", i.testExec)
	t.Run("are stopped with their own signal", i.testStopSignal)
	t.Run("make steps of workflows", i.testWorkflow)
	t.Run("are known to the next kubelet", i.testNextKubelet)
}

type imageTest struct {
	*cluster
	hub    *hub
	single bool // one user id only
}

// podFrom makes a pod of an image; its arguments are words.
func podFrom(name, image, args string, change ...func(*corev1.PodSpec)) *corev1.Pod {
	p := podOf(name, "", change...)
	c := &p.Spec.Containers[0]
	c.Image, c.Command, c.Args = image, nil, strings.Fields(args)
	return p
}

func policy(p corev1.PullPolicy) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.Containers[0].ImagePullPolicy = p }
}

// says runs a pod to its end and returns what it said.
func (i imageTest) says(t *testing.T, p *corev1.Pod) string {
	t.Helper()
	got := i.runPod(t, p)
	out := i.log(t, p.Name, "main")
	require.Equal(t, corev1.PodSucceeded, got.Status.Phase, "%s\n%+v", out, got.Status.ContainerStatuses)
	return out
}

// events returns a pod's events, as `reason: message`.
func (i imageTest) events(ctx context.Context, t *testing.T, pod string) string {
	t.Helper()
	list, err := i.kube.CoreV1().Events(i.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
	require.NoError(t, err)
	var all []string
	for _, e := range list.Items {
		all = append(all, e.Reason+": "+e.Message)
	}
	return strings.Join(all, "\n")
}

func (i imageTest) awaitEvent(t *testing.T, pod, text string) {
	t.Helper()
	eventually(t, "event of "+pod+" with "+text, func(ctx context.Context) bool { return strings.Contains(i.events(ctx, t, pod), text) })
}

func (i imageTest) testRun(t *testing.T) {
	image := i.hub.push(t, "team/box:v1", boxImage(t))
	out := i.says(t, podFrom("run", image, "env COLOUR , env PATH , pwd , ls /data , cat /data/new , stat /cache , cat /etc/hostname , env HOME , stat /etc/hosts"))
	require.Equal(t, "COLOUR=blue\nPATH=/bin\n/job\nkept new \nnew\ndrwxr-xr-x 0 0\nrun\nHOME=/root\n-rw-r--r-- 0 0\n", out)
	i.awaitEvent(t, "run", "Pulling: Pulling image")
	i.awaitEvent(t, "run", "Pulled: Successfully pulled image")
	p, err := i.kube.CoreV1().Pods(i.namespace).Get(t.Context(), "run", metav1.GetOptions{})
	require.NoError(t, err)
	require.Regexp(t, `^`+i.hub.Host+`/team/box@sha256:[0-9a-f]{64}$`, p.Status.ContainerStatuses[0].ImageID)
	require.NotEmpty(t, i.hub.asked("team/box"))

	asked := len(i.hub.asked("team/box"))
	require.Equal(t, "by default\n", i.says(t, podFrom("again", image, "")))
	require.Len(t, i.hub.asked("team/box"), asked, "nothing is fetched twice")
	i.awaitEvent(t, "again", "already present on machine")
}

func (i imageTest) testCommands(t *testing.T) {
	image := i.hub.push(t, "team/args:v1", boxImage(t))
	for name, c := range map[string]struct {
		command, args []string
		want          string
	}{
		"neither": {nil, nil, "by default\n"},
		"args":    {nil, []string{"args", "$(COLOUR)", "$(NONE)"}, `["red" "$(NONE)"]` + "\n"},
		"command": {[]string{"/bin/box", "args"}, nil, "[]\n"},
		"both":    {[]string{"box"}, []string{"args", "x"}, `["x"]` + "\n"},
	} {
		p := podFrom("merge-"+name, image, "")
		p.Spec.Containers[0].Command, p.Spec.Containers[0].Args = c.command, c.args
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "COLOUR", Value: "red"}}
		require.Equal(t, c.want, i.says(t, p), name)
	}
}

func (i imageTest) testIsolation(t *testing.T) {
	image := i.hub.push(t, "team/alone:v1", boxImage(t))
	require.Equal(t, "mine\nkept \n", i.says(t, podFrom("writes", image, "write /data/new mine , cat /data/new , rm /data/new , write /x y , ls /data")))
	require.Equal(t, "kept new \nnew\n", i.says(t, podFrom("reads", image, "ls /data , cat /data/new")))
}

func (i imageTest) testUser(t *testing.T) {
	image := i.hub.push(t, "team/user:v1", boxImage(t, func(c *v1.Config) { c.User = "app" }))
	out := i.says(t, podFrom("user", image, "id , stat /home/app"))
	if i.single {
		require.Equal(t, "0 0\ndrwxr-xr-x 0 0\n", out)
		i.awaitEvent(t, "user", "RunAsUserIgnored")
		return
	}
	require.Equal(t, "1000 1000\ndrwxr-xr-x 1000 1000\n", out)
	require.Equal(t, "7 0\n", i.says(t, podFrom("other-user", image, "id", func(s *corev1.PodSpec) {
		s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr(int64(7))}
	})))
	i.createPod(t, podFrom("nobody-knows", image, "id", func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: ptr(true)} }))
	i.awaitEvent(t, "nobody-knows", "image has non-numeric user (app), cannot verify user is non-root")
}

func (i imageTest) testAlways(t *testing.T) {
	first := boxImage(t, func(c *v1.Config) { c.Cmd = []string{"echo", "first"} })
	image := i.hub.push(t, "team/moving", first)
	require.Equal(t, "first\n", i.says(t, podFrom("moving-1", image, "")))
	asked := len(i.hub.asked("team/moving"))
	require.Equal(t, "first\n", i.says(t, podFrom("moving-2", image, "")), "a name without a tag is asked for each time")
	require.Equal(t, []string{"HEAD /v2/team/moving/manifests/latest"}, i.hub.asked("team/moving")[asked:])
	i.hub.push(t, "team/moving", boxImage(t, func(c *v1.Config) { c.Cmd = []string{"echo", "second"} }))
	require.Equal(t, "first\n", i.says(t, podFrom("moving-3", image, "", policy(corev1.PullIfNotPresent))))
	require.Equal(t, "second\n", i.says(t, podFrom("moving-4", image, "")))
	require.Equal(t, "second\n", i.says(t, podFrom("moving-5", image, "", policy(corev1.PullNever))))
}

// waits says why the only container of a pod waits.
func waits(p *corev1.Pod) (reason, message string) {
	if len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].State.Waiting != nil {
		w := p.Status.ContainerStatuses[0].State.Waiting
		return w.Reason, w.Message
	}
	return "", ""
}

func (i imageTest) awaitWaiting(t *testing.T, name, reason, message string) {
	t.Helper()
	p := i.awaitPod(t, name, "waits with "+reason, func(p *corev1.Pod) bool { r, _ := waits(p); return r == reason })
	_, m := waits(p)
	require.Contains(t, m, message)
	require.Equal(t, corev1.PodPending, p.Status.Phase)
}

func (i imageTest) testRefusals(t *testing.T) {
	image := i.hub.push(t, "team/late:v1", boxImage(t))
	i.createPod(t, podFrom("absent", i.hub.Host+"/team/absent:v1", ""))
	i.awaitWaiting(t, "absent", "ImagePullBackOff", "check the image's name and tag")
	i.awaitEvent(t, "absent", "Failed: Failed to pull image")
	i.awaitEvent(t, "absent", "Failed: Error: ErrImagePull")
	i.awaitEvent(t, "absent", "BackOff: Back-off pulling image")
	i.createPod(t, podFrom("never", image, "", policy(corev1.PullNever)))
	i.awaitWaiting(t, "never", "ErrImageNeverPull", "argosy cluster image load")
	i.createPod(t, podFrom("nonsense", "Not:A:Name", ""))
	i.awaitWaiting(t, "nonsense", "InvalidImageName", "Not:A:Name")
	// What it waited for comes, by another pod's doing.
	i.says(t, podFrom("brings", image, ""))
	i.awaitPod(t, "never", "runs after all", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
}

func (i imageTest) pullSecret(t *testing.T, name, password string, old bool) {
	t.Helper()
	auths := map[string]any{i.hub.Host: map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(hubUser + ":" + password))}}
	kind, key, content := corev1.SecretTypeDockerConfigJson, corev1.DockerConfigJsonKey, any(map[string]any{"auths": auths})
	if old {
		kind, key, content = corev1.SecretTypeDockercfg, corev1.DockerConfigKey, any(auths)
	}
	b, err := json.Marshal(content)
	require.NoError(t, err)
	_, err = i.kube.CoreV1().Secrets(i.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: kind, Data: map[string][]byte{key: b}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (i imageTest) testPrivate(t *testing.T) {
	image := i.hub.push(t, "private/box:v1", boxImage(t))
	i.pullSecret(t, "wrong", "guessed", false)
	i.pullSecret(t, "right", hubPassword, false)
	i.pullSecret(t, "right-old", hubPassword, true)
	secrets := func(names ...string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			for _, n := range names {
				s.ImagePullSecrets = append(s.ImagePullSecrets, corev1.LocalObjectReference{Name: n})
			}
		}
	}
	always := policy(corev1.PullAlways)
	i.createPod(t, podFrom("no-secret", image, "", always))
	i.awaitWaiting(t, "no-secret", "ImagePullBackOff", "imagePullSecrets")
	i.createPod(t, podFrom("wrong-secret", image, "", always, secrets("wrong")))
	i.awaitWaiting(t, "wrong-secret", "ImagePullBackOff", "401")
	require.NotContains(t, i.events(t.Context(), t, "wrong-secret"), "guessed")
	require.Equal(t, "by default\n", i.says(t, podFrom("secret", image, "", always, secrets("right"))))
	require.Equal(t, "by default\n", i.says(t, podFrom("old-secret", image, "", always, secrets("no-such-secret", "wrong", "right-old"))))
	i.awaitEvent(t, "old-secret", "FailedToRetrieveImagePullSecret")

	_, err := i.kube.CoreV1().ServiceAccounts(i.namespace).Create(t.Context(), &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: "puller"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "right"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "by default\n", i.says(t, podFrom("account", image, "", always, func(s *corev1.PodSpec) { s.ServiceAccountName = "puller" })))
}

func (i imageTest) testUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	gone := l.Addr().String()
	require.NoError(t, l.Close())
	p := podOf("no-registry", "echo on the host", func(s *corev1.PodSpec) { s.Containers[0].Image = gone + "/team/app:v1" })
	require.Equal(t, "on the host\n", i.says(t, p))
	i.awaitEvent(t, "no-registry", "RegistryUnreachable: registry "+gone+" cannot be reached")
	got, err := i.kube.CoreV1().Pods(i.namespace).Get(t.Context(), "no-registry", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "host", got.Status.ContainerStatuses[0].ImageID)
	p = podOf("host-by-name", "echo on the host", func(s *corev1.PodSpec) { s.Containers[0].Image = "argosy/host:any" })
	require.Equal(t, "on the host\n", i.says(t, p))
}

// image runs `argosy-cluster image` as the user that the cluster belongs to.
func (i imageTest) image(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	words := slices.Clone(i.cmd.Args[:slices.Index(i.cmd.Args, "up")]) // the program, behind what becomes its user
	words = append(append(append(words, "image"), args...), "--home", string(i.home))
	cmd := exec.Command(i.cmd.Path, words[1:]...)
	cmd.Dir, cmd.SysProcAttr = i.cmd.Dir, i.cmd.SysProcAttr
	b, err := cmd.CombinedOutput()
	if err != nil {
		require.NotNil(t, cmd.ProcessState, "%v", err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

func (i imageTest) testExec(t *testing.T) {
	image := i.hub.push(t, "team/exec:v1", boxImage(t))
	i.createPod(t, podFrom("exec", image, "wait"))
	i.awaitPod(t, "exec", "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	code, out, _ := i.exec(t, "exec", nil, "box", "env", "COLOUR", ",", "cat", "/data/new", ",", "pwd")
	require.Zero(t, code)
	require.Equal(t, "COLOUR=blue\nnew\n/job\n", out)
	require.NoError(t, i.kube.CoreV1().Pods(i.namespace).Delete(t.Context(), "exec", metav1.DeleteOptions{}))
}

// A workflow whose steps run in images that have no shell and nothing but a static program: the command comes from the
// image, looked up by Argo's controller; the artifact needs the real executor.
func (i imageTest) testWorkflow(t *testing.T) {
	pulled := i.hub.push(t, "team/step:v1", boxImage(t))
	dir := t.TempDir()
	saved := filepath.Join(dir, "saved.tar")
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	saveTo(t, saved, "localhost:1/step:v1", boxImage(t))
	code, out := i.image(t, "load", saved)
	require.Zero(t, code, out)
	i.create(t, workflows, fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: in-images}
spec:
  entrypoint: main
  imagePullSecrets: [{name: right}]
  templates:
    - name: main
      steps:
        - [{name: make, template: make}]
        - [{name: use, template: use, arguments: {artifacts: [{name: f, from: "{{steps.make.outputs.artifacts.f}}"}], parameters: [{name: v, value: "{{steps.make.outputs.parameters.v}}"}]}}]
        - [{name: plain, template: plain, arguments: {parameters: [{name: v, value: "{{steps.use.outputs.result}}"}]}}]
        - [{name: private, template: private}]
        - [{name: last, template: plain, arguments: {parameters: [{name: v, value: "{{steps.plain.outputs.result}}"}]}}]
    - name: make
      container: {image: %[1]q, args: [write, /out/d/f, payload, ",", write, /out/v, "42"]}
      outputs: {artifacts: [{name: f, path: /out/d}], parameters: [{name: v, valueFrom: {path: /out/v}}]}
    - name: use
      inputs: {artifacts: [{name: f, path: /in}], parameters: [{name: v}]}
      container: {image: %[2]q, args: [cat, /in/f, ",", echo, "and {{inputs.parameters.v}}"]}
    - name: private
      container: {image: %[3]q}
    - name: plain
      inputs: {parameters: [{name: v}]}
      container: {image: %[1]q, command: [box], args: [args, "{{inputs.parameters.v}}"]}
`, pulled, "localhost:1/step:v1", i.hub.push(t, "private/step:v1", boxImage(t))))
	wf := i.succeeds(t, "in-images")
	require.Equal(t, "payload\nand 42", text(nodesNamed(wf, "use")[0].Outputs.Result))
	require.Equal(t, `["payload\nand 42"]`, text(nodesNamed(wf, "plain")[0].Outputs.Result))
}

func (i imageTest) testStopSignal(t *testing.T) {
	image := i.hub.push(t, "team/stop:v1", boxImage(t, func(c *v1.Config) { c.StopSignal = "USR1" }))
	i.createPod(t, podFrom("stop", image, "echo waits , wait"))
	i.awaitLog(t, "stop", "waits")
	_, err := i.kube.CoreV1().Pods(i.namespace).Patch(t.Context(), "stop", types.StrategicMergePatchType, []byte(`{"spec": {"activeDeadlineSeconds": 1}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	i.awaitPod(t, "stop", "ends", ended)
	require.Equal(t, "waits\ngot user defined signal 1\n", i.log(t, "stop", "main"))
}

func (i imageTest) testNextKubelet(t *testing.T) {
	image := i.hub.push(t, "team/goes-on:v1", boxImage(t))
	i.createPod(t, podFrom("image-goes-on", image, "echo waits , wait", func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr(int64(5)) }))
	before := i.awaitPod(t, "image-goes-on", "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	i.kill(t, i.kubeletProcess(t))
	eventually(t, "commands can be run in it", func(context.Context) bool { return i.tryExec(t, "image-goes-on", "box", "cat", "/data/new") == nil })
	now, err := i.kube.CoreV1().Pods(i.namespace).Get(t.Context(), "image-goes-on", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, before.Status.ContainerStatuses, now.Status.ContainerStatuses)
	// Another image takes the name; the layers of this one stay as long as the pod does.
	i.hub.push(t, "team/goes-on:v1", boxImage(t, func(c *v1.Config) { c.Cmd = []string{"echo", "newer"} }))
	require.Equal(t, "newer\n", i.says(t, podFrom("image-newer", image, "", policy(corev1.PullAlways))))
	code, out, _ := i.exec(t, "image-goes-on", nil, "box", "cat", "/data/new")
	require.Zero(t, code)
	require.Equal(t, "new\n", out)
	require.NoError(t, i.kube.CoreV1().Pods(i.namespace).Delete(t.Context(), "image-goes-on", metav1.DeleteOptions{}))
}
