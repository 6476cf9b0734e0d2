package gateway_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	argofake "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/fake"
	"github.com/stretchr/testify/require"
)

func tarball(t *testing.T, name, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return out.Bytes()
}

func zipped(t *testing.T, name, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.Create(name)
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

const (
	helloParameters = `"parameters":[{"name":"word","value":"hi"},{"name":"times"}]`
	helloVersion    = `{"id":"ID1","name":"hello","created_at":"2026-11-20T12:00:01Z",` + helloParameters +
		`,"resource_references":[{"key":{"type":"PIPELINE","id":"ID1"},"relationship":"OWNER"}]}`
	helloPipeline = `{"id":"ID1","created_at":"2026-11-20T12:00:01Z","name":"hello",` + helloParameters + `,"default_version":` + helloVersion + `}`
)

func TestPipelineLife(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.Equal(t, `{}`, s.get(t, "/apis/v1beta1/pipelines", 200))

	uploaded := s.upload(t, "/apis/v1beta1/pipelines/upload?name=hello", "x.tar.gz", tarball(t, "pipeline.yaml", hello), 200)
	require.Equal(t, helloPipeline, numbered(uploaded))
	id := field(t, uploaded, "id")
	require.Equal(t, helloPipeline, numbered(s.get(t, "/apis/v1beta1/pipelines/"+id, 200)))
	require.Equal(t, helloPipeline, numbered(s.get(t, "/apis/v1beta1/namespaces/-/pipelines/hello", 200)))
	require.Equal(t, `{"pipelines":[`+helloPipeline+`],"total_size":1}`, numbered(s.get(t, "/apis/v1beta1/pipelines", 200)))
	require.Equal(t, hello, field(t, s.get(t, "/apis/v1beta1/pipelines/"+id+"/templates", 200), "template"))
	require.Equal(t, helloVersion, numbered(s.get(t, "/apis/v1beta1/pipeline_versions/"+id, 200)))
	require.Equal(t, `{"nodes":[{"id":"say","name":"say","type":"Container","template":"say"}],`+helloParameters+`}`,
		s.get(t, "/apis/argosy/v1/pipelines/"+id+"/graph", 200))

	second := s.upload(t, "/apis/v1beta1/pipelines/upload_version?name=v2&description=better&pipelineid="+id, "x.zip", zipped(t, "pipeline.yaml", hello+"# v2\n"), 200)
	v2 := field(t, second, "id")
	require.NotEqual(t, id, v2)
	require.Equal(t, "better", field(t, second, "description"))
	require.Contains(t, second, `"resource_references":[{"key":{"type":"PIPELINE","id":"`+id+`"},"relationship":"OWNER"}]`)
	require.Equal(t, v2, field(t, s.get(t, "/apis/v1beta1/pipelines/"+id, 200), "default_version", "id"), "a new version becomes the default")
	require.Equal(t, hello+"# v2\n", field(t, s.get(t, "/apis/v1beta1/pipelines/"+id+"/templates", 200), "template"))
	require.Equal(t, hello, field(t, s.get(t, "/apis/v1beta1/pipeline_versions/"+id+"/templates", 200), "template"))
	require.NotEmpty(t, s.get(t, "/apis/argosy/v1/pipeline_versions/"+v2+"/graph", 200))

	versions := s.get(t, "/apis/v1beta1/pipeline_versions?resource_key.type=PIPELINE&resource_key.id="+id+"&sort_by=created_at%20desc&page_size=1", 200)
	require.Contains(t, versions, `"total_size":2`)
	require.Contains(t, versions, `"name":"v2"`)
	more := s.get(t, "/apis/v1beta1/pipeline_versions?resource_key.type=PIPELINE&resource_key.id="+id+"&page_token="+field(t, versions, "next_page_token"), 200)
	require.Contains(t, more, `"name":"hello"`)
	require.Contains(t, s.get(t, "/apis/v1beta1/pipeline_versions", 400), "resource_key.id is missing")

	require.Equal(t, `{}`, s.post(t, "/apis/v1beta1/pipelines/"+id+"/default_version/"+id, "", 200))
	require.Equal(t, id, field(t, s.get(t, "/apis/v1beta1/pipelines/"+id, 200), "default_version", "id"))
	require.Equal(t, `{}`, s.delete(t, "/apis/v1beta1/pipeline_versions/"+id, 200))
	require.Equal(t, v2, field(t, s.get(t, "/apis/v1beta1/pipelines/"+id, 200), "default_version", "id"), "the newest that is left takes its place")
	require.Equal(t, `{}`, s.delete(t, "/apis/v1beta1/pipelines/"+id, 200))
	s.get(t, "/apis/v1beta1/pipelines/"+id, 404)
	s.get(t, "/apis/argosy/v1/pipelines/"+id+"/graph", 404)
	require.Equal(t, `{}`, s.get(t, "/apis/v1beta1/pipelines", 200))
}

func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/apis/v1beta1/pipelines/upload"
	taken := s.pipeline(t, "taken")
	for name, c := range map[string]struct {
		query, file string
		data        []byte
		status      int
		says        string
	}{
		"no archive":                {"", "x.tar.gz", []byte("this is none"), 400, "neither a tarball"},
		"tarball without a tarball": {"", "x.tar.gz", []byte("\x1f\x8bgarbage"), 400, "cannot be unzipped"},
		"tarball without manifest":  {"", "x.tar.gz", tarball(t, "readme.txt", "hi"), 400, "holds no Workflow"},
		"no Workflow":               {"", "x.yaml", []byte("kind: ConfigMap"), 400, "not a Workflow"},
		"empty":                     {"", "x.yaml", nil, 400, "empty"},
		"too large":                 {"", "x.yaml", bytes.Repeat([]byte("#"), 32<<20+1), 400, "32 MiB"},
		"long name":                 {"?name=" + strings.Repeat("a", 101), "x.yaml", []byte(hello), 400, "100"},
		"name that is taken":        {"?name=taken", "x.yaml", []byte(hello), 500, "taken"},
		"version of no pipeline":    {"_version?name=v2&pipelineid=nonsense", "x.yaml", []byte(hello), 500, "nonsense"},
		"version without pipeline":  {"_version?name=v2", "x.yaml", []byte(hello), 400, "id of its pipeline"},
		"version that is taken":     {"_version?name=taken&pipelineid=" + taken, "x.yaml", []byte(hello), 500, "taken"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.upload(t, path+c.query, c.file, c.data, c.status)
			require.Contains(t, field(t, answer, "error_message"), c.says)
			require.NotEmpty(t, field(t, answer, "error_details"))
			code := map[bool]string{true: `"code":3`, false: map[string]string{"taken": `"code":6}`, "nonsense": `"code":5}`}[c.says]}[c.status == 400]
			require.Contains(t, answer, code)
		})
	}
	t.Run("no form", func(t *testing.T) {
		require.Contains(t, field(t, s.post(t, path, hello, 400), "error_message"), "uploadfile")
	})
	t.Run("another field", func(t *testing.T) {
		body := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.yaml\"\r\n\r\nx\r\n--b--\r\n"
		status, _, answer := s.do(t, http.MethodPost, path, "multipart/form-data; boundary=b", strings.NewReader(body))
		require.Equal(t, 400, status)
		require.Contains(t, field(t, answer, "error_message"), "uploadfile")
	})
	t.Run("cut off", func(t *testing.T) {
		body := "--b\r\nContent-Disposition: form-data; name=\"uploadfile\"; filename=\"x.yaml\"\r\n\r\nkind: W"
		status, _, answer := s.do(t, http.MethodPost, path, "multipart/form-data; boundary=b", strings.NewReader(body))
		require.Equal(t, 400, status)
		require.Contains(t, field(t, answer, "error_message"), "whole")
	})
	require.Contains(t, s.get(t, "/apis/v1beta1/pipelines", 200), `"total_size":1`, "what was refused left no trace")
}

// A refused manifest is shown with the lines around what is wrong, also where it came in an archive.
func TestUploadSaysWhereTheManifestIsWrong(t *testing.T) {
	t.Parallel()
	s := start(t, onArgo(argofake.NewSimpleClientset()))
	const path = "/apis/v1beta1/pipelines/upload?name=x"
	head := "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: a-}\nspec:\n"
	syntax := head + "  entrypoint: main\n  templates: [\n"
	wrongType := head + "  entrypoint: main\n  parallelism: many\n  templates:\n  - name: main\n    container: {image: a}\n"
	noSuchTask := head + "  entrypoint: main\n  templates:\n  - name: main\n    dag:\n      tasks:\n      - name: one\n        template: missing\n"
	oneLine := `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"generateName": "` + strings.Repeat("ü", 400) + `-"}, "spec": {"parallelism": "many"}}`
	for name, c := range map[string]struct {
		file string
		data []byte
		want string
	}{
		"YAML":                  {"x.yaml", []byte(syntax), `{"line":6,"column":1,"message":"not valid YAML: did not find expected node content","excerpt":["spec:","  entrypoint: main","  templates: ["],"excerpt_from":4}`},
		"a type, in an archive": {"x.tar.gz", tarball(t, "pipeline.yaml", wrongType), `{"line":6,"column":16,"path":"spec.parallelism","message":"it must be a whole number, and is \"many\"","excerpt":["spec:","  entrypoint: main","  parallelism: many","  templates:","  - name: main"],"excerpt_from":4}`},
		"Argo's validation":     {"x.zip", zipped(t, "pipeline.yaml", noSuchTask), `{"line":11,"column":19,"path":"spec.templates[main].dag.tasks[one]","message":"templates.main.tasks.one template name 'missing' undefined","excerpt":["      tasks:","      - name: one","        template: missing"],"excerpt_from":9}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.upload(t, path, c.file, c.data, 400)
			require.Contains(t, field(t, answer, "error_message"), "the manifest cannot be used")
			var body struct{ Faults []json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(answer), &body))
			require.Len(t, body.Faults, 1)
			require.JSONEq(t, c.want, string(body.Faults[0]))
		})
	}
	var cut struct {
		Faults []struct{ Excerpt []string }
	}
	require.NoError(t, json.Unmarshal([]byte(s.upload(t, path, "x.json", []byte(oneLine), 400)), &cut))
	require.Len(t, cut.Faults[0].Excerpt, 1)
	require.Regexp(t, `^…ü+-"}, "spec": {"parallelism": "many"}}$`, cut.Faults[0].Excerpt[0], "of a long line, what is around the fault")
	bomb := "a: &a [" + strings.Repeat("x,", 100) + "]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 20) + "]\n"
	}
	require.Contains(t, s.upload(t, path, "x.yaml", []byte(head+"  entrypoint: a\n"+bomb), 400), "aliases expand")
	long := s.upload(t, "/apis/v1beta1/pipelines/upload?name="+strings.Repeat("a", 101), "x.yaml", []byte(syntax), 400)
	require.NotContains(t, long, "faults", "the name is what is wrong")
	large := s.upload(t, path, "x.yaml", []byte(syntax+strings.Repeat("#", 1<<20)), 400)
	require.NotContains(t, large, "faults", "it would take long")
}

func TestUploadNamesAfterFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.Equal(t, "hello.yaml", field(t, s.upload(t, "/apis/v1beta1/pipelines/upload", "hello.yaml", []byte(hello), 200), "name"))
}

func TestPipelineFromURL(t *testing.T) {
	t.Parallel()
	s := start(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(hello)) //nolint:errcheck // the test sees what arrives
	}))
	t.Cleanup(site.Close)
	created := s.post(t, "/apis/v1beta1/pipelines", `{"name":"from url","url":{"pipeline_url":"`+site.URL+`/p.yaml"}}`, 200)
	id := field(t, created, "id")
	require.Equal(t, "from url", field(t, created, "name"))
	version := s.post(t, "/apis/v1beta1/pipeline_versions", `{"name":"v2","code_source_url":"https://example.com/code","package_url":{"pipeline_url":"`+site.URL+`/p.yaml"},
		"resource_references":[{"key":{"type":"PIPELINE","id":"`+id+`"},"relationship":"OWNER"}]}`, 200)
	require.Equal(t, "https://example.com/code", field(t, version, "code_source_url"))
	require.Contains(t, s.post(t, "/apis/v1beta1/pipelines", `{"name":"x"}`, 400), "pipeline_url")
	require.Contains(t, s.post(t, "/apis/v1beta1/pipeline_versions", `{"name":"x"}`, 400), "PIPELINE")
	require.Contains(t, s.post(t, "/apis/v1beta1/pipelines", `{"name":"from url","url":{"pipeline_url":"`+site.URL+`/p.yaml"}}`, 409), `"code":6`)
}
