package test

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cluster/control/bootstrap"
	"github.com/argosy-ml/argosy/cluster/control/versions"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	c := up(t, t.TempDir())
	t.Run("says what is ready", c.testLines)
	t.Run("records how to reach it", c.testInfo)
	t.Run("has its namespaces and definitions", c.testObjects)
	t.Run("bootstrap changes nothing the second time", c.testBootstrap)
	t.Run("listens on loopback only", c.testLoopback)
	t.Run("refuses a second supervisor", c.testLocked)
	t.Run("runs a workflow", func(t *testing.T) { c.runWorkflow(t, "first") })
	t.Run("runs an MPIJob", c.runMPIJob)
	t.Run("completes a definition that others change too", c.testDefinitionInUse)
	t.Run("gives the object store's keys to every namespace", c.testArtifactKeys)
	t.Run("survives the death of its apiserver", c.testApiserverDeath)
	t.Run("stops", c.testStop)
}

func (c *cluster) testLines(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range c.lines {
		require.Regexp(t, `^[a-z0-9-]+ ready \d+\.\d\ds$`, l)
		seen[strings.Fields(l)[0]] = true
	}
	for _, name := range []string{"apiserver", "s3", "controllers", "node", "cluster"} {
		require.True(t, seen[name], name)
	}
	require.Len(t, seen, len(c.lines), "each once")
	require.Len(t, seen, 5, "the operators of distributed jobs wait for one")
	require.True(t, strings.HasPrefix(c.lines[len(c.lines)-1], "cluster ready"))
}

func (c *cluster) testInfo(t *testing.T) {
	i := c.info(t)
	require.Equal(t, 1, i.Version)
	require.Equal(t, c.cmd.Process.Pid, i.PID)
	require.Equal(t, c.config.Host, i.APIServer)
	require.Equal(t, c.home.Kubeconfig(), i.Kubeconfig)
	require.Equal(t, c.home.Shared(), i.Shared)
	require.Equal(t, home.Bucket, i.S3.Bucket)
	for _, private := range []string{"kubeconfig", "cluster/info.json", "cluster/s3.json", "cluster/kubelet.kubeconfig"} {
		st, err := os.Stat(filepath.Join(string(c.home), private))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), st.Mode().Perm(), private)
	}
	code, out := exitCode(t, "status", "--home", string(c.home))
	require.Zero(t, code, out)
	require.Contains(t, out, i.APIServer)
}

func (c *cluster) testObjects(t *testing.T) {
	for _, ns := range []string{"argo", "mpi-operator", "kubeflow"} {
		_, err := c.kube.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
		require.NoError(t, err)
	}
	secret, err := c.kube.CoreV1().Secrets("kubeflow").Get(t.Context(), "mlpipeline-minio-artifact", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, c.info(t).S3.SecretKey, string(secret.Data["secretkey"]))
	cm, err := c.kube.CoreV1().ConfigMaps("argo").Get(t.Context(), "workflow-controller-configmap", metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, cm.Data["artifactRepository"], "keyFormat: artifacts/{{workflow.name}}/{{pod.name}}")
	for _, r := range []schema.GroupVersionResource{workflows, mpijobs} {
		_, err := c.any.Resource(r).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
	}
	eventually(t, "service accounts and root certificates come from the controller-manager", func(ctx context.Context) bool {
		_, err1 := c.kube.CoreV1().ServiceAccounts("kubeflow").Get(ctx, "default", metav1.GetOptions{})
		_, err2 := c.kube.CoreV1().ConfigMaps("kubeflow").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err1 == nil && err2 == nil
	})
}

func (c *cluster) testBootstrap(t *testing.T) {
	resourceVersions := func() map[string]string {
		v := map[string]string{}
		for _, r := range []schema.GroupVersionResource{
			{Version: "v1", Resource: "secrets"},
			{Version: "v1", Resource: "configmaps"},
			{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
			{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
			{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		} {
			list, err := c.any.Resource(r).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			for _, o := range list.Items {
				for _, m := range o.GetManagedFields() {
					if m.Manager == "argosy-cluster" {
						v[r.Resource+"/"+o.GetName()] = o.GetResourceVersion()
					}
				}
			}
		}
		return v
	}
	before := resourceVersions()
	require.Greater(t, len(before), 20)
	build, err := buildinfo.ReadFile(filepath.Join(binaries, "argosy-controlplane"))
	require.NoError(t, err)
	require.NoError(t, bootstrap.Apply(t.Context(), c.config, c.info(t).S3, versions.Of(build)))
	require.Equal(t, before, resourceVersions())
}

// The keys come to a namespace even if they cannot be copied when it is made.
func (c *cluster) testArtifactKeys(t *testing.T) {
	const name = "mlpipeline-minio-artifact"
	secrets := c.kube.CoreV1().Secrets("kubeflow")
	keys, err := secrets.Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, secrets.Delete(t.Context(), name, metav1.DeleteOptions{}))
	_, err = c.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "of-a-team"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "the log says that they were not copied", func(context.Context) bool {
		b, err := os.ReadFile(c.home.Log("controllers"))
		require.NoError(t, err)
		return regexp.MustCompile(`keys were not copied.*namespace=of-a-team`).Match(b)
	})
	keys.ResourceVersion, keys.UID = "", ""
	_, err = secrets.Create(t.Context(), keys, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "the namespace has them", func(ctx context.Context) bool {
		copied, err := c.kube.CoreV1().Secrets("of-a-team").Get(ctx, name, metav1.GetOptions{})
		return err == nil && reflect.DeepEqual(copied.Data, keys.Data)
	})
}

// The apiserver and the object store refuse requests without a credential, or with a wrong one.
func TestStrangers(t *testing.T) {
	t.Parallel()
	c := shared(t)
	anonymous := rest.AnonymousClientConfig(c.config)
	for name, cfg := range map[string]*rest.Config{
		"nobody":    anonymous,
		"bad token": func() *rest.Config { b := rest.CopyConfig(anonymous); b.BearerToken = "guess"; return b }(),
	} {
		k, err := kubernetes.NewForConfig(cfg)
		require.NoError(t, err)
		_, err = k.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsUnauthorized(err), "%s: %v", name, err)
	}
	s3 := c.info(t).S3
	for secret, ok := range map[string]bool{s3.SecretKey: true, "guess": false} {
		m, err := minio.New(s3.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(s3.AccessKey, secret, ""), Region: "us-east-1"})
		require.NoError(t, err)
		_, err = m.BucketExists(t.Context(), s3.Bucket)
		require.Equal(t, ok, err == nil, "%v", err)
	}
}

// Each component's credential opens what it needs and not everything.
func TestRights(t *testing.T) {
	t.Parallel()
	c := shared(t)
	for _, r := range []struct {
		user, verb, group, resource, sub string
		allowed                          bool
	}{
		{"kubelet", "create", "", "pods", "binding", false},
		{"kubelet", "update", "", "pods", "status", true},
		{"kubelet", "create", "", "serviceaccounts", "token", true},
		{"kubelet", "create", "argoproj.io", "workflowtaskresults", "", true},
		{"kubelet", "create", "", "pods", "", false},
		{"kubelet", "create", "rbac.authorization.k8s.io", "clusterrolebindings", "", false},
		{"argo", "create", "", "pods", "", true},
		{"argo", "update", "argoproj.io", "workflows", "", true},
		{"argo", "create", "", "secrets", "", true}, // the object store's keys, in each namespace with workflows
		{"argo", "delete", "", "secrets", "", false},
		{"argo", "create", "rbac.authorization.k8s.io", "rolebindings", "", false},
		{"mpi-operator", "create", "batch", "jobs", "", true},
		{"mpi-operator", "update", "kubeflow.org", "mpijobs", "status", true},
		{"mpi-operator", "delete", "argoproj.io", "workflows", "", false},
		{"training-operator", "create", "", "pods", "", true},
		{"training-operator", "get", "", "secrets", "", false},
		{"volcano-scheduler", "create", "", "pods", "binding", true},
		{"volcano-scheduler", "get", "", "secrets", "", false},
		{"volcano-controllers", "create", "scheduling.volcano.sh", "podgroups", "", true},
		{"volcano-controllers", "create", "", "pods", "binding", false},
		{"scheduler", "create", "", "pods", "binding", true},
		{"scheduler", "get", "", "secrets", "", false},
		{"controller-manager", "create", "", "serviceaccounts", "", true},
		{"controller-manager", "update", "batch", "jobs", "status", true},
	} {
		cfg, err := clientcmd.BuildConfigFromFlags("", c.home.KubeconfigOf(r.user))
		require.NoError(t, err)
		k, err := kubernetes.NewForConfig(cfg)
		require.NoError(t, err)
		review := &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
			Namespace: "kubeflow", Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.sub,
		}}}
		review, err = k.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, r.allowed, review.Status.Allowed, "%+v", r)
	}
}

func (c *cluster) testLoopback(t *testing.T) {
	pids := []int{c.cmd.Process.Pid}
	for _, pid := range c.pids(t) {
		pids = append(pids, pid)
	}
	found := listening(t, pids)
	require.NotEmpty(t, found)
	for _, address := range found {
		require.Equal(t, "127.0.0.1", address)
	}
}

func (c *cluster) testLocked(t *testing.T) {
	code, out := exitCode(t, "up", "--home", string(c.home))
	require.Equal(t, 3, code, out)
	require.Contains(t, out, "locked by process "+strconv.Itoa(c.cmd.Process.Pid))
	require.Equal(t, c.cmd.Process.Pid, c.info(t).PID, "the running cluster keeps its record")
}

func (c *cluster) testApiserverDeath(t *testing.T) {
	before := c.pids(t)
	require.NoError(t, syscall.Kill(before["apiserver"], syscall.SIGKILL))
	eventually(t, "the apiserver and the controllers are new", func(context.Context) bool {
		now := c.pids(t)
		return now["apiserver"] != before["apiserver"] && now["controllers"] != before["controllers"]
	})
	c.runWorkflow(t, "after-apiserver")
	after := c.pids(t)
	for _, untouched := range []string{"s3", "node"} {
		require.Equal(t, before[untouched], after[untouched], untouched)
	}
}

func (c *cluster) testStop(t *testing.T) {
	pids := c.pids(t)
	code, out := exitCode(t, "stop", "--home", string(c.home))
	require.Zero(t, code, out)
	require.NoError(t, c.wait(t), "an orderly stop is exit code 0")
	for name, pid := range pids {
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, name)
	}
	_, err := c.home.ReadInfo()
	require.ErrorIs(t, err, fs.ErrNotExist)
	code, out = exitCode(t, "status", "--home", string(c.home))
	require.Equal(t, 1, code, out)
	code, out = exitCode(t, "stop", "--home", string(c.home))
	require.Zero(t, code, out)
	require.Contains(t, out, "no cluster is up")
}

// What was in a cluster is there after a stop, and after a kill of the supervisor, at the same address.
func TestDataSurvives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := up(t, dir)
	c.runWorkflow(t, "kept")
	address, uid := c.config.Host, c.workflowUID(t, "kept")
	c.stop(t)

	c = up(t, dir)
	require.Equal(t, address, c.config.Host)
	require.Equal(t, uid, c.workflowUID(t, "kept"))
	pids := c.pids(t)
	require.NoError(t, c.cmd.Process.Kill())
	require.Error(t, c.wait(t))
	for name, pid := range pids {
		eventually(t, name+" dies with its supervisor", func(context.Context) bool { return syscall.Kill(pid, 0) != nil })
	}
	_, err := c.home.ReadInfo()
	require.NoError(t, err, "a killed supervisor cannot remove its record")
	code, out := exitCode(t, "status", "--home", dir)
	require.Equal(t, 1, code, out)
	c.ended = closedWith(nil) // the clean-up has nothing to stop

	c = up(t, dir)
	require.Equal(t, uid, c.workflowUID(t, "kept"))
	c.runWorkflow(t, "after-kill")
}

// With --linger, the cluster outlives its server for a while, and then goes.
func TestLinger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := home.Acquire(home.Home(dir).Lock())
	require.NoError(t, err)
	const linger = 2 * time.Second
	c := up(t, dir, "--linger", linger.String())
	select {
	case err := <-c.ended:
		c.ended <- err
		require.NoError(t, err)
		t.Fatal("it ended while it was in use")
	case <-time.After(linger + time.Second):
	}
	_, err = c.kube.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	released := time.Now()
	require.NoError(t, lock.Release())
	require.NoError(t, c.wait(t))
	require.GreaterOrEqual(t, time.Since(released), linger)
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, out := exitCode(t, "version")
	require.Zero(t, code, out)
	for _, name := range []string{"kubernetes", "etcd", "argo-workflows", "mpi-operator", "training-operator", "volcano"} {
		require.Regexp(t, `(?m)^`+name+` v\d+\.\d+\.\d+$`, out)
	}
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 7, "nothing else is printed:\n%s", out)
	c := shared(t)
	info, err := c.kube.Discovery().ServerVersion()
	require.NoError(t, err)
	require.Contains(t, out, "\nkubernetes "+info.GitVersion+"\n", "the API says the same")
	nodes, err := c.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, n := range nodes.Items {
		require.Equal(t, info.GitVersion+"-argosy", n.Status.NodeInfo.KubeletVersion)
	}
}

func TestHomeIsRequired(t *testing.T) {
	t.Parallel()
	for _, cmd := range []string{"up", "stop", "status"} {
		code, out := exitCode(t, cmd)
		require.Equal(t, 1, code)
		require.Contains(t, out, `"home" not set`)
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	code, out := exitCode(t, "status", "--home", nowhere)
	require.Equal(t, 1, code, out)
	_, err := os.Stat(nowhere)
	require.ErrorIs(t, err, fs.ErrNotExist, "looking makes nothing")
}

// A signal in the middle of the start is an orderly stop too.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := command("up", "--home", dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n') // the first component is ready, the others are not
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	_, held := home.Holder(home.Home(dir).ClusterLock())
	require.False(t, held)
	_, err = home.Home(dir).ReadInfo()
	require.ErrorIs(t, err, fs.ErrNotExist)
}
