// Package scaling reports how the throughput of runs depends on one of their parameters, such as the number of workers or the network. The
// run is the unit: each run gives one value, and the statistics are over runs.
//
// A cell is all runs with the same parameters. A report compares each cell with the base cell, keeps strong and weak scaling apart, and
// says in words what the runs show and what they leave open.
package scaling

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Run is one measurement.
type Run struct {
	ID         string            `json:"id,omitempty"`
	Name       string            `json:"name"`
	Started    time.Time         `json:"started,omitzero"`
	Parameters map[string]string `json:"parameters,omitempty"`
	// Value is the metric, over all ranks; nil when the run gave none.
	Value *float64 `json:"value,omitempty"`
	// Failure says why there is no value.
	Failure string `json:"failure,omitempty"`
	// World is the number of ranks that took part, Asked the number requested; 0 means unknown.
	World int `json:"world,omitempty"`
	Asked int `json:"asked,omitempty"`
	// Ranks are typical values of the ranks, that of rank 0 first; nil when they are not known.
	Ranks []float64 `json:"ranks,omitempty"`
	// Bandwidth is the bus bandwidth of an all-reduce over these ranks, in GB/s; 0 when it was not measured. Probe says how it was, or why not.
	Bandwidth float64 `json:"bandwidth,omitempty"`
	Probe     string  `json:"probe,omitempty"`
	// Facts describe what it ran on: versions, machines, images.
	Facts map[string]string `json:"facts,omitempty"`
}

// Options say what is reported.
type Options struct {
	Title  string
	Metric string // name of the value, such as images/sec
	// By is the parameter whose effect is reported; empty: workers if it varies, else the first one that does.
	By string
	// Base is the value of By that others are compared with; empty: the smallest number, or the first in the alphabet.
	Base string
	// Batch and GlobalBatch name the parameter with the batch of one rank and of all ranks. Empty: batch_size, batch and
	// batch_size_per_worker are of a rank, global_batch_size and global_batch of all.
	Batch, GlobalBatch string
	// Ignore names parameters that do not matter, such as a seed that is another one in each run.
	Ignore []string
	// Seed of the bootstrap; the same runs and the same seed give the same report.
	Seed uint64
	// Command is the one that repeats the measurement.
	Command string
	// Price is what one rank costs in an hour; 0: no costs are reported. PriceSource says in which currency and where it is from.
	Price       float64
	PriceSource string
}

// Report is the answer. All of it can be written as JSON and read back.
type Report struct {
	Title  string `json:"title,omitempty"`
	Metric string `json:"metric"`
	By     string `json:"by"`
	// Scaling: the number of ranks changes along By, so that there is an efficiency.
	Scaling    bool    `json:"scaling"`
	Confidence float64 `json:"confidence"`
	Seed       uint64  `json:"seed"`
	// Comparisons counts those that were made; Needed is how many runs each cell needs so that any of them can show something.
	Comparisons int               `json:"comparisons"`
	Needed      int               `json:"needed,omitempty"`
	Verdicts    []string          `json:"verdicts"`
	Warnings    []string          `json:"warnings,omitempty"`
	Lines       []Line            `json:"lines"`
	Failures    []Failure         `json:"failures,omitempty"`
	Same        map[string]string `json:"same,omitempty"` // parameters and facts that all runs share
	Differences []Difference      `json:"differences,omitempty"`
	Command     string            `json:"command,omitempty"`
	PriceSource string            `json:"price_source,omitempty"`
	Runs        []Run             `json:"runs"`
}

// Line is the cells that differ in By alone.
type Line struct {
	Held  map[string]string `json:"held,omitempty"` // the other parameters that vary in the report
	Kind  Kind              `json:"kind,omitempty"`
	Base  string            `json:"base"` // value of By
	Cells []Cell            `json:"cells"`
}

// Kind says what stays the same while ranks are added.
type Kind string

// The kinds of scaling. The empty kind is not known.
const (
	Weak   Kind = "weak"   // the batch of each rank
	Strong Kind = "strong" // the batch of all ranks together
)

// Cell is all runs with the same parameters.
type Cell struct {
	At         string            `json:"at"` // value of By
	Parameters map[string]string `json:"parameters,omitempty"`
	Values     []float64         `json:"values"` // one for each run, as they ran
	Failed     int               `json:"failed,omitempty"`
	// Ranks is the world size; Counted tells that it was seen, not only asked for.
	Ranks   int     `json:"ranks,omitempty"`
	Counted bool    `json:"counted,omitempty"`
	Median  float64 `json:"median"`
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	// Low and High bound the median; nil when there are too few runs for bounds.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// PerRank, Speedup and Efficiency are there when the report is of scaling.
	PerRank    float64 `json:"per_rank,omitempty"`
	Speedup    float64 `json:"speedup,omitempty"`
	Efficiency float64 `json:"efficiency,omitempty"`
	// Stragglers has for each rank its typical speed, as a share of the fastest rank of its run.
	Stragglers []float64 `json:"stragglers,omitempty"`
	// Bandwidth is the median of the runs that measured it, in GB/s; 0 when none did.
	Bandwidth float64 `json:"bandwidth,omitempty"`
	// CostPerHour is that of all ranks, CostPerMillion that of a million of what the metric counts each second.
	CostPerHour    float64     `json:"cost_per_hour,omitempty"`
	CostPerMillion float64     `json:"cost_per_million,omitempty"`
	Against        *Comparison `json:"against,omitempty"` // with the base; nil for the base itself
	Verdict        string      `json:"verdict,omitempty"`
}

// Failure is a run that does not count, and why.
type Failure struct {
	Run  string `json:"run"`
	ID   string `json:"id,omitempty"`
	Cell string `json:"cell"`
	Why  string `json:"why"`
}

// Difference is a parameter or fact that differs between runs, other than the axes of the report.
type Difference struct {
	Name string `json:"name"`
	// Values by cell; a cell with several has them all.
	Values map[string][]string `json:"values"`
}

// axisNames are the parameters in a cell's name in order of their names, as in "network=eni workers=2".
func axisName(parameters map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		parts = append(parts, name+"="+parameters[name])
	}
	return strings.Join(parts, " ")
}

// Name is the cell's place in the report.
func (c *Cell) Name() string { return axisName(c.Parameters) }

// Name is the line's place in the report; empty when there is only one.
func (l *Line) Name() string { return axisName(l.Held) }

// check refuses what no report can be made of.
func check(runs []Run, o Options) error {
	if len(runs) == 0 {
		return fmt.Errorf("there are no runs to report on")
	}
	if o.Price < 0 || o.Price > 0 && o.PriceSource == "" {
		return fmt.Errorf("a price must be above 0 and needs its source, such as USD, list price of 2026-11-01")
	}
	for _, r := range runs {
		if r.Value != nil && *r.Value <= 0 {
			return fmt.Errorf("run %s: %s is %v; a report compares ratios, so values must be above 0", r.Name, o.Metric, *r.Value)
		}
	}
	return nil
}
