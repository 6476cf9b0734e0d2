// Package seed fills a store with a past: years of runs, the same ones for the same seed.
//
// It is as skewed as what people leave behind: one experiment has half of the runs, a few have a quarter, and hundreds
// that were used for some days share the rest. Names share prefixes, old runs are archived, recurring runs come from a
// few jobs, and most runs that succeeded have metrics.
package seed

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
)

// How the past is made up.
const (
	lasting   = 8   // experiments that go on for all the time; the first of them has half of all runs
	passing   = 392 // experiments of some days
	pipelines = 40
	schedules = 24
	span      = 3 * 365 * 24 * time.Hour
)

// start is when the oldest run was created.
var start = time.Date(2023, 1, 2, 3, 4, 5, 0, time.UTC)

// World is what runs belong to, and the rule that makes them.
type World struct {
	Runs        int
	Experiments []experiment.Experiment
	Pipelines   []pipeline.Pipeline // with their first version as the default
	Versions    []pipeline.Version  // all of them, by pipeline
	Schedules   []schedule.Schedule

	seed      uint64
	ofPast    []float64 // cumulative shares of the lasting experiments
	ofPipes   []float64
	versionOf [][]int // positions in Versions, by pipeline
}

// NewWorld makes the world of a seed with so many runs.
func NewWorld(seed uint64, runs int) *World {
	w := &World{Runs: runs, seed: seed, ofPast: shares(lasting, 1.3), ofPipes: shares(pipelines, 1.1)}
	random := rand.New(rand.NewPCG(seed, math.MaxUint64))
	for i := range lasting + passing {
		w.Experiments = append(w.Experiments, experiment.Experiment{
			ID: id(random), Name: fmt.Sprintf("%s-%03d", topics[i%len(topics)], i), CreatedAt: start.Add(time.Duration(i) * time.Second),
			Archived: i >= lasting && i < lasting+passing/20,
		})
	}
	for i := range pipelines {
		p := pipeline.Pipeline{ID: id(random), Name: fmt.Sprintf("%s-%s", topics[i%len(topics)], tasks[i%len(tasks)]), CreatedAt: start}
		if i >= len(topics) {
			p.Name += fmt.Sprintf("-v%d", i/len(topics)+1)
		}
		var positions []int
		for j := range 1 + i%5 {
			v := pipeline.Version{
				ID: id(random), PipelineID: p.ID, Name: fmt.Sprintf("%s %d.0", p.Name, j+1), CreatedAt: start.Add(time.Duration(j) * time.Hour),
				Parameters: []pipeline.Parameter{{Name: "learning_rate", Value: "0.1", HasDefault: true}},
			}
			if j == 0 {
				v.ID, p.Default = p.ID, v // as with KFP v1
				p.Default.ID = p.ID
			}
			positions = append(positions, len(w.Versions))
			w.Versions = append(w.Versions, v)
		}
		w.Pipelines, w.versionOf = append(w.Pipelines, p), append(w.versionOf, positions)
	}
	for i := range schedules {
		v := w.Versions[w.versionOf[i][0]]
		w.Schedules = append(w.Schedules, schedule.Schedule{
			ID: id(random), Name: "nightly-" + w.Pipelines[i].Name, ExperimentID: w.Experiments[i%4].ID,
			PipelineID: v.PipelineID, PipelineName: w.Pipelines[i].Name, VersionID: v.ID, VersionName: v.Name,
			ServiceAccount: "pipeline-runner", Resource: fmt.Sprintf("nightly-%d", i), MaxConcurrency: 1,
			Trigger: schedule.Trigger{Interval: time.Hour}, CreatedAt: start, UpdatedAt: start,
		})
	}
	return w
}

var (
	topics = []string{"mnist", "resnet50", "bert-base", "gpt2-small", "recommender", "fraud", "speech", "segmentation", "churn", "forecast"}
	tasks  = []string{"train", "tune", "evaluate", "distill"}
	rates  = []string{"0.1", "0.03", "0.01", "0.003", "0.001"}
)

// Run gives the i-th run, the oldest first, whole as the store would read it.
func (w *World) Run(i int) run.Run {
	random := rand.New(rand.NewPCG(w.seed, uint64(i)))
	past := float64(i) / float64(w.Runs) // 0: the oldest, 1: now
	r := run.Run{
		ID: id(random), Namespace: "kubeflow", ServiceAccount: "pipeline-runner", Settled: true, Revision: int64(i + 1),
		CreatedAt: start.Add(time.Duration((past + random.Float64()/float64(w.Runs)) * float64(span))).Truncate(time.Microsecond),
	}
	r.Workflow = "run-" + r.ID[:13]
	e := w.experiment(random, past)
	r.ExperimentID, r.ExperimentName = w.Experiments[e].ID, w.Experiments[e].Name
	p := w.origin(random, &r, e, i)
	w.outcome(random, &r, past)
	r.Archived = w.Experiments[e].Archived || past < 0.07 || random.Float64() < 0.03
	r.Parameters = []run.Parameter{{Name: "learning_rate", Value: rates[random.IntN(len(rates))]}}
	if p%2 == 0 {
		r.Parameters = append(r.Parameters, run.Parameter{Name: "workers", Value: fmt.Sprint(1 + random.IntN(8))})
	}
	if random.Float64() < 0.1 {
		r.Description = fmt.Sprintf("%s with batches of %d", tasks[random.IntN(len(tasks))], 32<<random.IntN(5))
	}
	return r
}

// experiment chooses by weight among those that last, or the one of the few days that a run falls into.
func (w *World) experiment(random *rand.Rand, past float64) int {
	if random.Float64() < 0.8 {
		return choose(w.ofPast, random)
	}
	e := int(past*passing) + random.IntN(3) - 1
	return lasting + min(max(e, 0), passing-1)
}

// origin says what a run was made from, and names it; it gives the pipeline's position.
func (w *World) origin(random *rand.Rand, r *run.Run, e, i int) int {
	if e < 4 && random.Float64() < 0.5 {
		s := e + 4*min(int(random.ExpFloat64()*1.5), schedules/4-1)
		of := w.Schedules[s]
		r.ScheduleID, r.ScheduleName, r.ScheduledAt = of.ID, of.Name, r.CreatedAt.Truncate(time.Minute)
		r.PipelineID, r.PipelineName, r.VersionID, r.VersionName = of.PipelineID, of.PipelineName, of.VersionID, of.VersionName
		r.Name = fmt.Sprintf("%s-%d", of.Name, i)
		return s
	}
	p := choose(w.ofPipes, random)
	if e >= lasting {
		p = e % pipelines
	}
	v := w.Versions[w.versionOf[p][random.IntN(len(w.versionOf[p]))]]
	r.PipelineID, r.PipelineName, r.VersionID, r.VersionName = v.PipelineID, w.Pipelines[p].Name, v.ID, v.Name
	switch kind := random.Float64(); {
	case kind < 0.05:
		r.Name = "baseline"
	case kind < 0.5:
		r.Name = fmt.Sprintf("Run of %s (%s)", r.PipelineName, r.ID[:5])
	default:
		r.Name = fmt.Sprintf("%s %s", r.PipelineName, r.CreatedAt.Format("2006-01-02 15:04:05"))
	}
	return p
}

// outcome says how a run ended; the newest few have not.
func (w *World) outcome(random *rand.Rand, r *run.Run, past float64) {
	switch luck := random.Float64(); {
	case float64(w.Runs)*(1-past) < 200:
		r.Status, r.StartedAt = run.Running, r.CreatedAt.Add(time.Second)
		return
	case luck < 0.8:
		r.Status = run.Succeeded
	case luck < 0.97:
		r.Status, r.Message = run.Failed, "child 'train' failed"
	default:
		r.Status, r.Message = run.Error, "pod deleted"
	}
	r.StartedAt = r.CreatedAt.Add(time.Second)
	r.FinishedAt = r.StartedAt.Add(time.Duration(math.Exp(5+2*random.NormFloat64()) * float64(time.Second))).Truncate(time.Microsecond)
	if r.Status != run.Succeeded {
		return
	}
	node := r.Workflow + "-1"
	if random.Float64() < 0.85 {
		r.Metrics = append(r.Metrics, run.Metric{NodeID: node, Name: "accuracy-score", Value: math.Round(1000*(1-0.3*random.Float64())) / 1000, Format: run.Percentage})
	}
	if random.Float64() < 0.4 {
		r.Metrics = append(r.Metrics, run.Metric{NodeID: node, Name: "loss", Value: random.ExpFloat64(), Format: run.Raw})
	}
	if random.Float64() < 0.02 {
		r.Metrics = append(r.Metrics, run.Metric{NodeID: node, Name: "images/sec", Value: 100 * random.Float64(), Format: run.Raw})
	}
}

// Manifest is what a version was uploaded as.
func (w *World) Manifest(v pipeline.Version) []byte {
	text, err := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
		"metadata": map[string]any{"generateName": "run-", "annotations": map[string]string{"version": v.Name}},
		"spec": map[string]any{
			"entrypoint": "train", "arguments": map[string]any{"parameters": []map[string]string{
				{"name": "learning_rate", "value": "0.1"}, {"name": "workers", "value": "1"},
			}},
			"templates": []any{map[string]any{"name": "train", "container": map[string]any{"image": "train", "command": []string{"./train"}}}},
		},
	})
	if err != nil {
		panic(err) // maps of texts
	}
	return text
}

// shares gives the cumulative shares of n things by a power law.
func shares(n int, power float64) []float64 {
	s, sum := make([]float64, n), 0.0
	for i := range s {
		sum += math.Pow(float64(i+1), -power)
		s[i] = sum
	}
	for i := range s {
		s[i] /= sum
	}
	return s
}

func choose(shares []float64, random *rand.Rand) int {
	return min(sort.SearchFloat64s(shares, random.Float64()), len(shares)-1)
}

// id is a UUID out of what is random here.
func id(random *rand.Rand) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuid.UUID(b).String()
}
