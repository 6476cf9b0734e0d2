//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
)

// TestAcceptedOnce kills the server again and again while runs are being created: each run that was accepted is carried
// out, once, and each answer that was given holds after the restart. It then backs the store up and restores it.
func TestAcceptedOnce(t *testing.T) {
	t.Parallel()
	home, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	a, accepted := acceptedOnce(t, home)
	command := func(args ...string) (string, error) {
		out, err := exec.Command(binary("argosy"), append(args, "--home", home)...).CombinedOutput()
		return string(out), err
	}
	out, err := command("backup", backup)
	require.NoError(t, err, out)
	events := newListener("/apis/argosy/v1/events")
	for connections := range 2 {
		require.NoError(t, events.listen(t, a.url, func() bool { return events.kinds["ready"] > connections }))
	}
	require.Zero(t, events.kinds["reset"], "ids hold over the kills")
	out, err = command("restore", backup)
	require.Error(t, err, "nothing is restored under a server that runs")
	require.Contains(t, out, "runs Argosy on")
	a.call(t, http.MethodDelete, "/apis/v1beta1/runs/"+accepted[0], "", nil, 200, nil)
	a.stop(t)
	out, err = command("restore", backup)
	require.NoError(t, err, out)
	a = up(t, home)
	a.get(t, "/apis/v1beta1/runs/"+accepted[0], 200, nil)
	require.NoError(t, events.listen(t, a.url, func() bool { return events.kinds["ready"] > 2 }))
	require.Equal(t, 1, events.kinds["reset"], "an id of before the restore says nothing any more: %v", events.kinds)
}

// TestAcceptedOncePostgreSQL does the same with the store in a PostgreSQL database, and then moves it into a file.
func TestAcceptedOncePostgreSQL(t *testing.T) {
	t.Parallel()
	home, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	place := "ARGOSY_STORE=" + pgtest.Own(t).Database(t)
	remote := func(c *exec.Cmd) { c.Env = append(os.Environ(), place) }
	a, accepted := acceptedOnce(t, home, remote)
	second := exec.Command(binary("argosy"), "server", "--home", t.TempDir(), "--s3", "127.0.0.1:1", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0",
		"--kubeconfig", filepath.Join(home, "kubeconfig"))
	remote(second)
	out, err := second.CombinedOutput()
	require.Error(t, err, "a second server on the same database")
	require.Contains(t, string(out), "another Argosy has the store open")
	save := exec.Command(binary("argosy"), "backup", backup)
	remote(save)
	out, err = save.CombinedOutput()
	require.NoError(t, err, "%s", out)
	a.stop(t)
	out, err = exec.Command(binary("argosy"), "restore", backup, "--home", home).CombinedOutput()
	require.NoError(t, err, "%s", out)
	a = up(t, home)
	for _, id := range accepted {
		a.get(t, "/apis/v1beta1/runs/"+id, 200, nil)
	}
}

// acceptedOnce gives the server as it runs at the end, and the runs that it accepted.
func acceptedOnce(t *testing.T, home string, options ...func(*exec.Cmd)) (*argosy, []string) {
	t.Helper()
	const kills, wanted = 3, 12
	a := up(t, home, options...)
	var pipeline struct{ ID string }
	a.upload(t, "one-step", "one.yaml", []byte(oneStep), 200, &pipeline)
	var accepted []string
	for range kills {
		ids := make(chan string, 10_000)
		stop := make(chan struct{})
		var posting sync.WaitGroup
		for range 4 {
			posting.Go(func() { a.createUntilKilled(pipeline.ID, ids, stop) })
		}
		for range wanted {
			accepted = append(accepted, <-ids)
		}
		a.kill(t)
		close(stop)
		posting.Wait()
		close(ids)
		for id := range ids {
			accepted = append(accepted, id)
		}
		a = up(t, home, options...)
	}
	for _, id := range accepted {
		run := a.await(t, id, 3*time.Minute, runView.final)
		require.Equal(t, "Succeeded", run.Status, "%+v", run)
	}
	var runs struct {
		Total int `json:"total_size"`
	}
	a.get(t, "/apis/v1beta1/runs?page_size=200", 200, &runs)
	require.GreaterOrEqual(t, runs.Total, len(accepted))
	byRun := map[string]int{}
	var list struct {
		Items []struct {
			Metadata struct{ Labels map[string]string }
		}
	}
	a.kubernetes(t, "/apis/argoproj.io/v1alpha1/namespaces/kubeflow/workflows", &list)
	for _, w := range list.Items {
		byRun[w.Metadata.Labels["pipeline/runid"]]++
	}
	for _, id := range accepted {
		require.Equal(t, 1, byRun[id], "run %s has one Workflow", id)
	}
	require.Len(t, byRun, runs.Total, "and there is no Workflow without a run")
	t.Logf("%d runs accepted over %d kills", runs.Total, kills)
	return a, accepted
}

// createUntilKilled posts runs until the server is gone, and passes on the ids that it answered with.
func (a *argosy) createUntilKilled(pipeline string, ids chan<- string, stop <-chan struct{}) {
	body, err := json.Marshal(runBody("killed", pipeline, nil))
	if err != nil {
		return
	}
	for {
		select {
		case <-stop:
			return
		default:
		}
		answer, err := http.Post(a.url+"/apis/v1beta1/runs", "application/json", bytes.NewReader(body)) //nolint:noctx // it ends with the server
		if err != nil {
			return
		}
		var created struct{ Run struct{ ID string } }
		err = json.NewDecoder(answer.Body).Decode(&created)
		answer.Body.Close()
		if err != nil {
			return
		}
		ids <- created.Run.ID
	}
}
