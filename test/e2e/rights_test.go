//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// greeting is what a manifest may refer to.
const greeting = `apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: greeting, namespace: kubeflow}
spec:
  templates:
  - {name: greet, container: {image: host, command: [echo, hello]}}
`

// errand has a step that can come from the cache, one that fails on demand, and one of a WorkflowTemplate.
const errand = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: errand-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: word, value: hello}, {name: code, value: "0"}, {name: seconds, value: "0"}]}
  templates:
  - name: main
    dag:
      tasks:
      - {name: first, template: first}
      - {name: second, template: second, dependencies: [first]}
      - {name: greet, templateRef: {name: greeting, template: greet}, dependencies: [second]}
  - name: first
    container: {image: host, command: [sh, -c, "echo '{{workflow.parameters.word}}' > /tmp/word"]}
    outputs: {parameters: [{name: word, valueFrom: {path: /tmp/word}}]}
  - name: second
    container: {image: host, command: [sh, -c, "echo at work > /tmp/out; sleep {{workflow.parameters.seconds}}; exit {{workflow.parameters.code}}"]}
    outputs: {parameters: [{name: out, valueFrom: {path: /tmp/out}}]}
`

// lacking has a step that takes a value from a config map that does not exist.
const lacking = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: lacking-}
spec:
  entrypoint: main
  templates:
  - {name: main, container: {image: host, command: [env], env: [{name: WORD, valueFrom: {configMapKeyRef: {name: words, key: word}}}]}}
`

// Rights that a run of the test cannot be sure to use: a report is changed only where a server was killed while it made it.
var seldom = []string{"patch workflowtaskresults.argoproj.io"}

// TestRights applies manifests/ to a cluster, strictly, and runs a server with no other rights than those of its account there.
// All that it does is allowed, but for setting up the account of runs, which was done; and all that it is allowed it does.
func TestRights(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	t.Cleanup(func() {
		code, out, errs := command(t, "cluster", "stop", "--force", "--home", home)
		require.Zero(t, code, "%s%s", out, errs)
	})
	code, _, errs := command(t, "cluster", "start", "--home", home)
	require.Zero(t, code, errs)
	admin, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, "kubeconfig"))
	require.NoError(t, err)
	granted := applyManifests(t, admin)
	applyText(t, admin, []byte(greeting))

	token := tokenOf(t, admin, "argosy")
	may := slices.Compact(slices.Sorted(slices.Values(granted))) // what the account may do is what manifests/base says
	awaitRights(t, admin, token, func(rights []string) bool { return slices.Equal(may, rights) })

	seen := watchRequests(t, admin, token)
	a := up(t, filepath.Join(t.TempDir(), "server"), serverOf(t, home, seen.url))
	runErrands(t, a, home)

	require.Empty(t, seen.take(http.StatusForbidden, "patch serviceaccounts", "patch roles.rbac.authorization.k8s.io", "patch rolebindings.rbac.authorization.k8s.io"))
	used := seen.take(0)
	require.Subset(t, granted, used, "the server asks for nothing else")
	for _, right := range granted {
		if !slices.Contains(seldom, right) {
			require.Contains(t, used, right, "a right that the server does not use")
		}
	}
	a.stop(t)
	t.Run("what the manifests say passes admission", func(t *testing.T) { passesAdmission(t, admin) })
	t.Run("fewer rights for steps", func(t *testing.T) { stepsMayDoLess(t, admin) })
	t.Run("the server as a pod", func(t *testing.T) { runsAsAPod(t, home, admin) })
}

// stepsMayDoLess applies the stricter role of steps over that of manifests/base, and takes it back.
func stepsMayDoLess(t *testing.T, admin *rest.Config) {
	t.Helper()
	token := tokenOf(t, admin, "pipeline-runner")
	const volumes, launchers = "create persistentvolumeclaims", "create mpijobs.kubeflow.org"
	may := func(rights []string) bool { return slices.Contains(rights, volumes) }
	awaitRights(t, admin, token, may)
	applyText(t, admin, render(t, "manifests/strict"))
	awaitRights(t, admin, token, func(rights []string) bool { return !may(rights) && slices.Contains(rights, launchers) })
	applyText(t, admin, render(t, "manifests/base"))
	awaitRights(t, admin, token, may)
}

// runErrands has the server do all that it does with a cluster, which is that of a home.
func runErrands(t *testing.T, a *argosy, home string) {
	t.Helper()
	var pipeline struct{ ID string }
	a.upload(t, "errand", "errand.yaml", []byte(errand), 200, &pipeline)
	run := func(name string, parameters map[string]string, status string) string {
		id := a.createRun(t, name, pipeline.ID, parameters)
		done := a.await(t, id, 3*time.Minute, runView.final)
		require.Equal(t, status, done.Status, "%+v", done)
		return id
	}
	failed := run("fails", map[string]string{"code": "1"}, "Failed")
	a.post(t, "/apis/v1beta1/runs/"+failed+"/retry", struct{}{}, 200, nil) // which waits until the run is recorded whole
	again := a.await(t, failed, 3*time.Minute, runView.final)
	require.Equal(t, "Failed", again.Status)
	require.NoError(t, workflows(t, home).Delete(t.Context(), again.Workflow.Name, metav1.DeleteOptions{}))
	awaitWorkflow(t, workflows(t, home), again.Workflow.Name, gone)
	a.post(t, "/apis/v1beta1/runs/"+failed+"/retry", struct{}{}, 200, nil)
	require.Equal(t, "Failed", a.await(t, failed, 3*time.Minute, runView.final).Status)
	cached := a.createRun(t, "takes from the cache", pipeline.ID, nil)
	taken := a.await(t, cached, 3*time.Minute, runView.final)
	require.Equal(t, "Succeeded", taken.Status, "%+v", taken)
	require.NotEmpty(t, taken.Nodes[taken.node(t, "first")].CachedFrom.RunID, "%+v", taken)
	run("takes nothing", map[string]string{"word": "other"}, "Succeeded")

	sleeping := a.createRun(t, "sleeps", pipeline.ID, map[string]string{"seconds": "600"})
	a.await(t, sleeping, 3*time.Minute, func(r runView) bool {
		return slices.ContainsFunc(r.Nodes, func(n runNode) bool { return n.Template == "second" && n.Phase == "Running" })
	})
	a.post(t, "/apis/v1beta1/runs/"+sleeping+"/terminate", struct{}{}, 200, nil)
	require.Equal(t, "Terminated", a.await(t, sleeping, 3*time.Minute, runView.final).Status)
	for _, path := range []string{"cluster", "jobs", "runs/" + sleeping + "/jobs", "runs/" + sleeping + "/use", "runs/" + sleeping + "/pending", "runs/" + sleeping + "/cluster-events"} {
		var answer struct{ Missing []any }
		a.call(t, http.MethodGet, "/apis/argosy/v1/"+path, "", nil, 200, &answer)
		require.Empty(t, answer.Missing, path)
	}
	a.call(t, http.MethodDelete, "/apis/v1beta1/runs/"+sleeping, "", nil, 200, nil)

	var checked struct{ Concerns []struct{ Why string } }
	a.post(t, "/apis/argosy/v1/runs", map[string]any{"name": "lacks", "manifest": lacking, "dry_run": true}, 200, &checked)
	require.Len(t, checked.Concerns, 1, "%+v", checked)
	require.Contains(t, checked.Concerns[0].Why, `"words" not found`)

	a.upload(t, "never-fits", "never.yaml", []byte(withClaim("resources: {requests: {storage: 1000Pi}}")), 200, &pipeline)
	run("never fits", nil, "Failed")
}

// serverOf gives a server that reaches the cluster of a home through another address.
func serverOf(t *testing.T, home, kubernetes string) func(*exec.Cmd) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, "cluster/info.json"))
	require.NoError(t, err)
	var info struct {
		S3 struct {
			Endpoint  string
			AccessKey string `json:"access_key"`
			SecretKey string `json:"secret_key"`
			Bucket    string
		}
	}
	require.NoError(t, json.Unmarshal(data, &info))
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c","users":[{"name":"u","user":{}}],`+
		`"clusters":[{"name":"c","cluster":{"server":"`+kubernetes+`"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`), 0o600))
	return func(c *exec.Cmd) {
		c.Args = append([]string{c.Args[0], "server"}, c.Args[2:]...)
		c.Args = append(c.Args, "--kubeconfig", kubeconfig, "--s3", info.S3.Endpoint, "--s3-bucket", info.S3.Bucket)
		c.Env = append(os.Environ(), "ARGOSY_S3_ACCESS_KEY="+info.S3.AccessKey, "ARGOSY_S3_SECRET_KEY="+info.S3.SecretKey)
	}
}

// applyManifests applies manifests/base, first only to have the API server check it strictly, and gives the rights of the server's
// account in its namespace.
func applyManifests(t *testing.T, admin *rest.Config) (rights []string) {
	t.Helper()
	for _, o := range applyText(t, admin, render(t, "manifests/base")) {
		if o.GetKind() == "Role" && o.GetName() == "argosy" || o.GetKind() == "ClusterRole" && slices.Contains([]string{"argosy-capacity", "argosy-view"}, o.GetName()) {
			var role rbacv1.Role // whose rules a ClusterRole has too
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role))
			rights = append(rights, names(role.Rules)...)
		}
	}
	slices.Sort(rights)
	return slices.Compact(rights)
}

// applyText applies objects, after the API server has checked each.
func applyText(t *testing.T, admin *rest.Config, text []byte) (objects []*unstructured.Unstructured) {
	t.Helper()
	return send(t, admin, text, []string{metav1.DryRunAll}, nil)
}

// send applies objects in each of the ways: as a dry run, and really.
func send(t *testing.T, admin *rest.Config, text []byte, ways ...[]string) (objects []*unstructured.Unstructured) {
	t.Helper()
	client, err := dynamic.NewForConfig(admin)
	require.NoError(t, err)
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := documents.Decode(&o.Object); errors.Is(err, io.EOF) {
			return objects
		}
		raw, err := json.Marshal(o)
		require.NoError(t, err)
		kind, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		for _, dryRun := range ways {
			force := true
			options := metav1.PatchOptions{FieldManager: "test", FieldValidation: metav1.FieldValidationStrict, Force: &force, DryRun: dryRun}
			_, err := client.Resource(kind).Namespace(o.GetNamespace()).Patch(t.Context(), o.GetName(), types.ApplyPatchType, raw, options)
			require.NoError(t, err, "%s %s", o.GetKind(), o.GetName())
		}
		objects = append(objects, o)
	}
}

// names writes rules as rights: "get pods", "patch pods/status", "list workflows.argoproj.io".
func names(rules []rbacv1.PolicyRule) (rights []string) {
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					rights = append(rights, right(verb, group, resource))
				}
			}
		}
	}
	return rights
}

func right(verb, group, resource string) string {
	resource, sub, _ := strings.Cut(resource, "/")
	if group != "" {
		resource += "." + group
	}
	if sub != "" {
		resource += "/" + sub
	}
	return verb + " " + resource
}

func tokenOf(t *testing.T, admin *rest.Config, account string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(admin)
	require.NoError(t, err)
	request, err := client.CoreV1().ServiceAccounts("kubeflow").CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return request.Status.Token
}

// rightsOf asks the API server what the owner of a token may do in the namespace, beside asking about itself.
func rightsOf(t *testing.T, admin *rest.Config, token string) (rights []string) {
	t.Helper()
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	review, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "kubeflow"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, r := range review.Status.ResourceRules {
		if !slices.ContainsFunc(r.APIGroups, func(g string) bool { return g == "authorization.k8s.io" || g == "authentication.k8s.io" }) {
			rights = append(rights, names([]rbacv1.PolicyRule{{APIGroups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs}})...)
		}
	}
	slices.Sort(rights)
	return slices.Compact(rights)
}

// awaitRights waits until an account has the given rights: the API server receives roles over a watch.
func awaitRights(t *testing.T, admin *rest.Config, token string, are func(rights []string) bool) {
	t.Helper()
	late := time.After(3 * time.Minute)
	for {
		rights := rightsOf(t, admin, token)
		if are(rights) {
			return
		}
		select {
		case <-late:
			t.Fatalf("the account's rights do not become so: %v", rights)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// requests are those that pass on their way to the API server.
type requests struct {
	url  string
	mu   sync.Mutex
	seen map[string]int // the worst status of each kind of request
}

// watchRequests passes requests on to the API server under a token.
func watchRequests(t *testing.T, admin *rest.Config, token string) *requests {
	t.Helper()
	target, err := url.Parse(admin.Host)
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	r := &requests{seen: map[string]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		ModifyResponse: func(answer *http.Response) error {
			if kind := kindOf(answer.Request); kind != "" {
				r.mu.Lock()
				r.seen[kind] = max(r.seen[kind], answer.StatusCode)
				r.mu.Unlock()
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }, // its end, mostly
	}
	site := httptest.NewUnstartedServer(proxy)
	site.Start()
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	r.url = site.URL
	return r
}

// take gives the kinds of requests, but for some: those that were answered with a status; with 0 all that were not refused.
func (r *requests) take(status int, but ...string) (kinds []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(r.seen)) {
		refused := r.seen[kind] == http.StatusForbidden
		if (status == 0 && !refused || status != 0 && r.seen[kind] == status) && !slices.Contains(but, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// kindOf names the right that a request needs; "" where it is not about a resource.
func kindOf(r *http.Request) string {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	switch {
	case len(path) > 2 && path[0] == "api":
		path = path[2:]
	case len(path) > 3 && path[0] == "apis":
		group, path = path[1], path[3:]
	default:
		return ""
	}
	if len(path) > 2 && path[0] == "namespaces" {
		path = path[2:]
	}
	verb := map[string]string{"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}[r.Method]
	switch named := len(path) > 1; {
	case !named && r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		verb = "watch"
	case !named && r.Method == http.MethodGet:
		verb = "list"
	case !named && r.Method == http.MethodDelete:
		verb = "deletecollection"
	}
	resource := path[0]
	if len(path) > 2 {
		resource += "/" + path[2]
	}
	return right(verb, group, resource)
}
