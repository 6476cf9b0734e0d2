//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/uimetadata"
)

// sdk is a client as users have one.
func (a *argosy) sdk(t *testing.T) *client.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(a.url, client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return c
}

// ran lists the steps that ran a container, by name and in order of name.
func (r runView) ran() (names []string) {
	for _, n := range r.Nodes {
		if n.Type == "Pod" && n.Phase == "Succeeded" {
			names = append(names, n.DisplayName)
		}
	}
	slices.Sort(names)
	return names
}

func (r runView) output(t *testing.T, step, name string) string {
	t.Helper()
	for _, o := range r.Nodes[r.node(t, step)].Outputs {
		if o.Name == name {
			return o.Value
		}
	}
	t.Fatalf("step %s has no output %s", step, name)
	return ""
}

func checkSweep(t *testing.T, a *argosy, run runView) {
	require.Equal(t, []string{"choose", "show", "tidy", "train", "train", "train", "train", "train", "train-2"}, run.ran())
	table := regexp.MustCompile(`(?m)^(\S+): (\S+)( best)?$`).FindAllStringSubmatch(a.stepLog(t, run, "choose"), -1)
	require.Len(t, table, 5)
	best := slices.MaxFunc(table, func(a, b []string) int { return strings.Compare(a[2], b[2]) })
	require.Equal(t, " best", best[3], "the rate whose accuracy is the highest: %v", table)
	require.Equal(t, best[1], run.output(t, "choose", "rate"))
	require.Contains(t, a.stepLog(t, run, "train-2"), "epoch 10: loss=")
	require.Contains(t, a.stepLog(t, run, "train-2"), "learning rate "+best[1]+": accuracy=")
	require.Len(t, run.Metrics, 6, "one accuracy for each training")
	require.Contains(t, a.stepLog(t, run, "show"), "the model's weights:\n[[")
	require.Contains(t, a.stepLog(t, run, "tidy"), "sweep over [0.0001,0.001,0.01,0.1,0.5] ended: Succeeded")
}

func checkSweepGivesUp(t *testing.T, a *argosy, run runView) {
	require.Equal(t, []string{"choose", "give-up", "tidy", "train"}, run.ran())
	require.Regexp(t, `^the best learning rate, 10, reaches an accuracy of 0\.7\d+ only`, a.stepLog(t, run, "give-up"))
}

func checkDataPipeline(t *testing.T, a *argosy, run runView) {
	require.Contains(t, a.stepLog(t, run, "features"), "346 of 365 days can be used")
	require.Equal(t, "346", run.output(t, "features", "kept"))
	require.Greater(t, run.metric(t, "r2"), 0.8)
	require.Positive(t, run.metric(t, "rmse"))

	c := a.sdk(t)
	file := func(step, name string) string {
		data, err := c.Artifacts.ReadFile(t.Context(), run.ID, run.Nodes[run.node(t, step)].ID, name)
		require.NoError(t, err)
		return string(data)
	}
	require.Len(t, strings.Split(strings.TrimSpace(file("collect", "sales")), "\n"), 366)
	require.Len(t, strings.Split(strings.TrimSpace(file("features", "table")), "\n"), 347)
	var model map[string]float64
	require.NoError(t, json.Unmarshal([]byte(file("fit", "model")), &model))
	require.InDelta(t, 12, model["degrees"], 2, "what the data were made with")
	require.Contains(t, file("evaluate", "report"), "<h1>Sold and foretold</h1>")
	outputs := uimetadata.Parse([]byte(file("evaluate", uimetadata.ArtifactName)))
	var types []string
	for _, o := range outputs {
		require.Empty(t, o.Warning())
		types = append(types, o.Output.Type)
	}
	require.Equal(t, []string{"markdown", "table", "web-app"}, types)
	require.Contains(t, outputs[0].Output.Source, "# Ice cream")
	require.Contains(t, outputs[1].Output.Source, "degrees,")
}

func checkGoFunctions(t *testing.T, a *argosy, run runView) {
	require.Equal(t, []string{"compare", "fit", "fit", "fit", "measure"}, run.ran())
	require.Equal(t, "500 points\n", a.stepLog(t, run, "measure"))
	require.Regexp(t, `learning rate 0\.\d+: y = [12]\.\d+\*x \+ \d\.\d+, loss=0\.\d+`, a.stepLog(t, run, "fit"))
	var line struct{ Slope, Base float64 }
	require.NoError(t, json.Unmarshal([]byte(run.output(t, "compare", "best")), &line))
	require.InDelta(t, 2, line.Slope, 0.1)
	require.InDelta(t, 1, line.Base, 0.3)
	require.Less(t, run.metric(t, "off-by"), 0.3)
}

func checkUntilGood(t *testing.T, a *argosy, run runView) {
	var rounds []string
	for _, n := range run.Nodes {
		if n.DisplayName == "epoch" && n.Type == "Pod" {
			rounds = append(rounds, a.log(t, run.ID, n.ID))
		}
	}
	slices.Sort(rounds)
	require.Greater(t, len(rounds), 2, "%v", rounds)
	for i, said := range rounds {
		want := "go on"
		if i == len(rounds)-1 {
			want = "enough"
		}
		require.Regexp(t, `^round \d+: accuracy=0\.\d+, `+want, said)
	}
	accuracy := regexp.MustCompile(`accuracy=(\S+),`).FindStringSubmatch(rounds[len(rounds)-1])[1]
	require.Contains(t, a.stepLog(t, run, "show"), "accuracy "+accuracy, "what the last round put out")
}

// checkCron has the sample's program make a job and follow it, and the command line another.
func checkCron(t *testing.T, a *argosy) {
	printed := a.paste(t, "cron")
	require.Regexp(t, `(?s)^job looks, cron \*/2 \* \* \* \* \*
run looks-\S+ of \d\d:\d\d:\d\d: Succeeded load=\S+ late=\d\S*
run looks-\S+ of \d\d:\d\d:\d\d: Succeeded load=\S+ late=\d\S*
run looks-\S+ of \d\d:\d\d:\d\d: Succeeded load=\S+ late=\d\S*
job looks is Disabled
pipeline cron \S+
schedule five-minutes \S+
Name: +five-minutes
.*
disabled schedule five-minutes
$`, printed)

	c := a.sdk(t)
	jobs, err := c.Schedules.List(t.Context(), client.ScheduleListOptions{ListOptions: client.ListOptions{Filter: []client.Predicate{client.Equals("name", "looks")}}})
	require.NoError(t, err)
	require.Len(t, jobs.Items, 1)
	require.False(t, jobs.Items[0].Enabled)
	runs, err := c.Schedules.Runs(t.Context(), jobs.Items[0].ID, client.ListOptions{SortBy: "created_at asc"})
	require.NoError(t, err)
	require.GreaterOrEqual(t, runs.Total, 3)
	for i, r := range runs.Items {
		ended, err := c.Runs.Wait(t.Context(), r.ID)
		require.NoError(t, err)
		require.Equal(t, client.Succeeded, ended.Status)
		require.Zero(t, r.ScheduledAt.Second()%2, "each at a time of its own that the expression matches")
		require.True(t, i == 0 || r.ScheduledAt.After(runs.Items[i-1].ScheduledAt))
	}
	require.NoError(t, c.Schedules.Delete(t.Context(), jobs.Items[0].ID))
	_, err = c.Schedules.Get(t.Context(), jobs.Items[0].ID)
	require.True(t, client.IsNotFound(err), "%v", err)
}
