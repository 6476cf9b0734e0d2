//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/sdk/client"
)

// leaves is a pipeline of one step that leaves a file, a folder and a log.
const leaves = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: leaves-}
spec:
  entrypoint: step
  templates:
    - name: step
      metadata: {labels: {pipelines.kubeflow.org/enable_caching: "false"}}
      outputs:
        artifacts: [{name: file, path: /tmp/file}, {name: folder, path: /tmp/folder, archive: {none: {}}}]
      container: {image: host, command: [sh, -c, "mkdir -p /tmp/folder/deep; echo 123456789 | tee /tmp/file /tmp/folder/a > /tmp/folder/deep/b; echo done"]}
`

// stored tells how many objects the artifact store of the cluster holds, and how many bytes.
func stored(t *testing.T, home string) (objects int, size int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(home, "cluster/s3/buckets/mlpipeline"), func(_ string, entry os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		objects++
		size += info.Size()
		return nil
	}))
	return objects, size
}

// TestRetention removes what is too much, kills the server while it does, and has the next prune complete it.
func TestRetention(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)
	var pipeline struct{ ID string }
	a.upload(t, "leaves", "leaves.yaml", []byte(leaves), 200, &pipeline)
	var runs []runView
	for range 12 {
		runs = append(runs, a.finish(t, pipeline.ID, nil))
	}
	prune := func(args ...string) (p client.Pruned) {
		t.Helper()
		code, out, errs := command(t, append([]string{"prune", "--server", a.url, "-o", "json"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &p), out)
		return p
	}
	code, _, errs := command(t, "prune", "--dry-run", "--server", a.url)
	require.Equal(t, 2, code)
	require.Contains(t, errs, "the server keeps everything by default; set what to keep")

	before, size := stored(t, home)
	told := prune("--dry-run", "--keep-artifacts", "11")
	require.Len(t, told.Runs, 1)
	require.Equal(t, runs[0].ID, told.Runs[0].RunID)
	require.Len(t, told.Runs[0].Artifacts, 2)
	require.Empty(t, told.Runs[0].Logs)
	objects, _ := stored(t, home)
	require.Equal(t, before, objects, "only told")
	require.Equal(t, told.Runs, prune("--keep-artifacts", "11").Runs, "what was told is what goes")
	objects, left := stored(t, home)
	require.Equal(t, before-3, objects, "a file and two of the folder")
	require.Equal(t, told.Bytes, size-left, "to the byte")
	require.Equal(t, "done\n", a.stepLog(t, runs[0], runs[0].Nodes[0].DisplayName))

	a.call(t, http.MethodPost, "/apis/v1beta1/runs/"+runs[1].ID+":archive", "", nil, 200, nil)
	code, out, errs := command(t, "prune", "--dry-run", "--keep-runs", "2", "--server", a.url)
	require.Zero(t, code, errs)
	t.Logf("%s", out)
	require.Contains(t, out, "would remove 9 runs, and ")

	killed := make(chan struct{})
	go func() { // until the server dies
		defer close(killed)
		body := bytes.NewReader([]byte(`{"keep_runs":"2"}`))
		answer, err := http.Post(a.url+"/apis/argosy/v1/prune", "application/json", body) //nolint:noctx // it ends with the server
		if err == nil {
			answer.Body.Close()
		}
	}()
	for late := time.Now().Add(3 * time.Minute); ; { // it has begun
		if now, _ := stored(t, home); now < objects {
			break
		}
		require.True(t, time.Now().Before(late), "nothing is removed")
		time.Sleep(time.Millisecond)
	}
	a.kill(t)
	<-killed
	halfway, _ := stored(t, home)
	a = up(t, home)
	rest := prune("--keep-runs", "2")
	t.Logf("%d of %d objects were left when the server was killed; the next prune found %d runs", halfway, objects, len(rest.Runs))
	require.Empty(t, prune("--keep-runs", "2").Runs)
	for i, r := range runs {
		want := 404
		if i == 1 || i >= 10 {
			want = 200
		}
		a.get(t, "/apis/argosy/v1/runs/"+r.ID, want, nil)
	}
	objects, _ = stored(t, home)
	require.Equal(t, 3*4, objects, "three runs have a file, a folder of two and a log")
	list, err := workflows(t, home).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 3, "and no others have a Workflow")
}
