package app_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/store/storetest"
)

const workflow = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec: {entrypoint: m, templates: [{name: m, container: {image: busybox, command: ["true"]}}]}
`

// packed makes a .tar.gz of headers, each with its content.
func packed(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, e := range entries {
		require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Mode: 0o644, Size: int64(len(e.content))}))
		_, err := io.WriteString(w, e.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return out.Bytes()
}

type entry struct {
	kind                byte
	name, link, content string
}

func file(name, content string) entry { return entry{kind: tar.TypeReg, name: name, content: content} }

// zipped makes a .zip of one entry.
func zipped(t *testing.T, name string, mode fs.FileMode, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	header := &zip.FileHeader{Name: name, Method: zip.Deflate}
	header.SetMode(mode)
	f, err := w.CreateHeader(header)
	require.NoError(t, err)
	_, err = io.WriteString(f, content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func bomb() string {
	text := "a: &a [" + strings.Repeat("x,", 100) + "]\n"
	for c := 'b'; c <= 'j'; c++ {
		text += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 20) + "]\n"
	}
	return text
}

// TestHostileUploads gives the whole server, Argo's validation and all, packages that mean harm or are broken: each is refused
// with words for the person who sent it, and nothing of it stays.
func TestHostileUploads(t *testing.T) {
	t.Parallel()
	c := config(t)
	a := start(t, c)
	url := "http://" + a.Addrs().HTTP + "/apis/v1beta1/"
	require.Eventually(t, func() bool { return strings.Contains(get(t, url+"experiments"), "Default") }, 5*time.Minute, 10*time.Millisecond)
	before := storetest.Contents(t, c.Store)
	manyEntries := make([]entry, 1100)
	for i := range manyEntries {
		manyEntries[i] = file(fmt.Sprint(i), "")
	}
	for name, u := range map[string]struct {
		file string
		data []byte
		says string
	}{
		"a path that climbs":          {"x.tar.gz", packed(t, file("../pipeline.yaml", workflow)), `entry "../pipeline.yaml" points outside the archive`},
		"one that climbs later":       {"x.tar.gz", packed(t, file("a/../../pipeline.yaml", workflow)), "points outside the archive"},
		"an absolute path":            {"x.tar.gz", packed(t, file("/etc/pipeline.yaml", workflow)), "points outside the archive"},
		"a path of Windows":           {"x.tar.gz", packed(t, file(`..\pipeline.yaml`, workflow)), "points outside the archive"},
		"a symbolic link":             {"x.tar.gz", packed(t, entry{kind: tar.TypeSymlink, name: "pipeline.yaml", link: "/etc/passwd"}), "the tarball holds no file; it must hold a Workflow as pipeline.yaml"},
		"a hard link":                 {"x.tar.gz", packed(t, entry{kind: tar.TypeLink, name: "pipeline.yaml", link: "/etc/passwd"}), "holds no file"},
		"a device":                    {"x.tar.gz", packed(t, entry{kind: tar.TypeBlock, name: "pipeline.yaml"}), "holds no file"},
		"a symbolic link in a zip":    {"x.zip", zipped(t, "pipeline.yaml", fs.ModeSymlink|0o777, "/etc/passwd"), "the archive holds no file"},
		"a path that climbs in a zip": {"x.zip", zipped(t, "../../pipeline.yaml", 0o644, workflow), "points outside the archive"},
		"a tarball that grows":        {"x.tar.gz", packed(t, file("pipeline.yaml", strings.Repeat(" ", 33<<20))), `entry "pipeline.yaml" unpacks to more than 32 MiB`},
		"a zip that grows":            {"x.zip", zipped(t, "pipeline.yaml", 0o644, strings.Repeat(" ", 33<<20)), "unpacks to more than 32 MiB"},
		"much beside the manifest":    {"x.tar.gz", packed(t, file("a.yaml", "x"), file("b", strings.Repeat(" ", 65<<20)), file("pipeline.yaml", workflow)), "unpacks to more than 64 MiB"},
		"many entries":                {"x.tar.gz", packed(t, manyEntries...), "more than 1000 entries"},
		"a tarball that is cut off":   {"x.tar.gz", packed(t, file("pipeline.yaml", workflow))[:60], "x.tar.gz: "},
		"a zip that is cut off":       {"x.zip", zipped(t, "pipeline.yaml", 0o644, workflow)[:60], "cannot be read as one"},
		"a tarball within":            {"x.tar.gz", packed(t, file("pipeline.tar.gz", workflow)), "does not end in .yaml or .yml"},
		"an archive by another name":  {"x.yaml", packed(t, file("pipeline.yaml", workflow)), "the manifest is not UTF-8 text"},
		"a picture":                   {"x.png", []byte("\x89PNG\r\n\x1a\n"), "neither a tarball (.tar.gz) nor a .zip"},
		"nothing":                     {"x.yaml", nil, "the file is empty"},
		"spaces":                      {"x.yaml", []byte("\n \n"), "the manifest is empty"},
		"too much":                    {"x.yaml", bytes.Repeat([]byte("#"), 32<<20+1), "larger than 32 MiB"},
		"a bomb of aliases":           {"x.yaml", []byte(bomb()), "its YAML aliases expand to more than 250,000 keys and values"},
		"the same in a tarball":       {"x.tar.gz", packed(t, file("pipeline.yaml", bomb())), "its YAML aliases expand to more than 250,000 keys and values"},
		"an alias of itself":          {"x.yaml", []byte("a: &a [*a]"), "the manifest cannot be used"},
		"deep nesting":                {"x.yaml", []byte(strings.Repeat("[", 1<<19)), "it is not valid YAML"},
		"deep nesting in JSON":        {"x.json", []byte(strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)), "the manifest cannot be used"},
		"many keys":                   {"x.yaml", []byte(workflow + "x:\n" + strings.Repeat("- 1\n", 300_000)), "more than 250,000 keys and values"},
		"many more":                   {"x.yaml", []byte(workflow + "x: [" + strings.Repeat("1,", 16<<20-200)), "more than 1,000,000 line ends, colons, commas"},
		"many keys in JSON":           {"x.json", []byte(`{"x":[` + strings.Repeat("1,", 300_000) + "1]}"), "more than 250,000 keys and values"},
		"many levels":                 {"x.yaml", []byte(workflow + "x: " + strings.Repeat("[", 200) + strings.Repeat("]", 200)), "lie in each other more than 100 deep"},
		"many levels in JSON":         {"x.json", []byte(strings.Repeat("[", 200) + strings.Repeat("]", 200)), "lie in each other more than 100 deep"},
		"no YAML":                     {"x.yaml", []byte("a: [b\nc: d"), "it is not valid YAML: line "},
		"another kind":                {"x.yaml", []byte("apiVersion: v1\nkind: Pod"), `it is of kind "Pod"; it must be of kind Workflow`},
		"a pipeline of KFP v2":        {"x.json", []byte(`{"pipelineInfo": {"name": "x"}, "root": {}}`), "compiled for KFP v2, as a pipeline spec or in the v2-compatible mode"},
		"a template that is not":      {"x.yaml", []byte(strings.Replace(workflow, "entrypoint: m", "entrypoint: other", 1)), "template name 'other' undefined"},
		"two Workflows":               {"x.yaml", []byte(workflow + "---\n" + workflow), "upload one Workflow"},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := upload(t, url+"pipelines/upload?name=hostile", u.file, u.data)
			require.Equal(t, http.StatusBadRequest, status, answer)
			var refused struct {
				Message string `json:"error_message"`
				Details string `json:"error_details"`
			}
			require.NoError(t, json.Unmarshal([]byte(answer), &refused))
			require.Contains(t, refused.Message, u.says)
			require.NotEmpty(t, refused.Details)
		})
	}
	for name, manifest := range map[string]string{"a bomb of aliases": bomb(), "an alias of itself": "a: &a [*a]", "no Workflow": "{}"} {
		for _, path := range []string{"runs", "jobs"} {
			t.Run(name+" in "+path, func(t *testing.T) {
				body := fmt.Sprintf(`{"name":"hostile","max_concurrency":"1","pipeline_spec":{"workflow_manifest":%q}}`, manifest)
				answer, err := http.Post(url+path, "application/json", strings.NewReader(body)) //nolint:noctx // a test
				require.NoError(t, err)
				defer answer.Body.Close()
				text, err := io.ReadAll(answer.Body)
				require.NoError(t, err)
				require.Equal(t, http.StatusBadRequest, answer.StatusCode, string(text))
				require.Contains(t, string(text), "the manifest cannot be used")
			})
		}
	}
	require.Equal(t, before, storetest.Contents(t, c.Store), "what was refused left no trace")
	status, answer := upload(t, url+"pipelines/upload", "x.tar.gz", packed(t, file("readme.md", "hi"), file("pipeline.yaml", workflow)))
	require.Equal(t, http.StatusOK, status, answer)
}

func upload(t *testing.T, url, name string, data []byte) (int, string) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("uploadfile", name)
	require.NoError(t, err)
	_, err = part.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	answer, err := http.Post(url, w.FormDataContentType(), &form) //nolint:noctx // a test
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}
