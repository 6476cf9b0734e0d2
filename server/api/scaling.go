package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/document"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/benchmark"
)

type scalings struct {
	argosyv1.UnimplementedScalingServiceServer
	service *benchmark.Service
}

func (s *scalings) GetScalingReport(ctx context.Context, r *argosyv1.GetScalingReportRequest) (*argosyv1.ScalingReport, error) {
	a, err := s.report(ctx, r)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ScalingReport{
		Refused: a.Refused, Open: int32(a.Open), ExperimentName: a.Experiment, Metric: a.Metric.Name, Step: a.Metric.Step,
	}
	for _, m := range a.Metrics {
		answer.Metrics = append(answer.Metrics, &argosyv1.MeasuredMetric{Name: m.Name, StepName: m.Step, Runs: int32(m.Runs)})
	}
	for _, p := range a.Varying {
		answer.Varying = append(answer.Varying, &argosyv1.VaryingParameter{Name: p.Name, Values: p.Values})
	}
	if a.Report != nil {
		answer.Method = document.Method(a.Report)
		answer.Result, err = scalingResult(a.Report)
	}
	return answer, err
}

func (s *scalings) report(ctx context.Context, r *argosyv1.GetScalingReportRequest) (*benchmark.Answer, error) {
	return s.service.Report(ctx, benchmark.Query{
		RunIDs: r.GetRunIds(), ExperimentID: r.GetExperimentId(), Step: r.GetStep(),
		Options: scaling.Options{
			Title: r.GetTitle(), Metric: r.GetMetric(), By: r.GetBy(), Base: r.GetBase(), Batch: r.GetBatch(), GlobalBatch: r.GetGlobalBatch(),
			Ignore: r.GetIgnore(), Price: r.GetPrice(), PriceSource: r.GetPriceSource(),
		},
	})
}

// scalingResult has the fields of the report by their names in JSON, so that none can be forgotten: one that the message lacks is an error.
func scalingResult(r *scaling.Report) (*argosyv1.ScalingResult, error) {
	plain := *r
	plain.Differences = nil // a list in a map, which messages cannot hold
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, fmt.Errorf("write the report: %w", err)
	}
	result := &argosyv1.ScalingResult{}
	if err := protojson.Unmarshal(text, result); err != nil {
		return nil, fmt.Errorf("the report as a message: %w", err)
	}
	for _, d := range r.Differences {
		different := &argosyv1.ScalingDifference{Name: d.Name}
		for _, cell := range slices.Sorted(maps.Keys(d.Values)) {
			different.Cells = append(different.Cells, &argosyv1.CellValues{Cell: cell, Values: d.Values[cell]})
		}
		result.Differences = append(result.Differences, different)
	}
	return result, nil
}

// scalingFormats are how a report is written as a file.
var scalingFormats = map[string]struct {
	mediaType string
	write     func(io.Writer, *scaling.Report) error
}{
	"md":   {"text/markdown", document.Markdown},
	"csv":  {"text/csv", document.CSV},
	"html": {"text/html", document.HTML},
	"json": {"application/json", func(w io.Writer, r *scaling.Report) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}},
}

func (s *scalings) ExportScalingReport(ctx context.Context, r *argosyv1.ExportScalingReportRequest) (*argosyv1.ScalingExport, error) {
	format, known := scalingFormats[r.GetFormat()]
	if !known {
		return nil, apierr.New(apierr.Invalid, "format is %q; it can be %s", r.GetFormat(), strings.Join(slices.Sorted(maps.Keys(scalingFormats)), ", "))
	}
	a, err := s.report(ctx, r.GetReport())
	if err != nil {
		return nil, err
	}
	if a.Report == nil {
		return nil, apierr.New(apierr.Invalid, "%s", a.Refused)
	}
	var b strings.Builder
	if err := format.write(&b, a.Report); err != nil {
		return nil, err
	}
	return &argosyv1.ScalingExport{FileName: "scaling." + r.GetFormat(), MediaType: format.mediaType, Text: b.String()}, nil
}
