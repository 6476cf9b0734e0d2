package api

import (
	"context"
	"strings"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/series"
)

// Limits of a trial of rules.
const (
	maxTestedLog   = 4 << 20
	maxTestedRules = 16
	defaultTested  = 50 // lines of each sort
	maxTestedLines = 1000
)

// TestRules tries rules on a log.
func (s *metrics) TestRules(_ context.Context, r *argosyv1.TestRulesRequest) (*argosyv1.TestRulesResponse, error) {
	show := int(r.GetShow())
	switch {
	case len(r.GetLog()) > maxTestedLog:
		return nil, apierr.New(apierr.Invalid, "log has %d bytes; at most %d are tried, so send a part of it", len(r.GetLog()), maxTestedLog)
	case len(r.GetRules()) > maxTestedRules:
		return nil, apierr.New(apierr.Invalid, "rules has %d rules; at most %d are tried at a time", len(r.GetRules()), maxTestedRules)
	case show < 0:
		return nil, apierr.New(apierr.Invalid, "show is %d; it cannot be negative", show)
	case show == 0:
		show = defaultTested
	}
	tried, err := series.TryRules(r.GetLog(), r.GetRules(), min(show, maxTestedLines))
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.TestRulesResponse{}
	for _, t := range tried {
		answer.Reports = append(answer.Reports, ruleReport(t))
	}
	suggestions, err := series.Suggest(r.GetLog())
	for _, g := range suggestions {
		answer.Suggestions = append(answer.Suggestions, &argosyv1.SuggestedRule{Rule: g.Rule, Why: g.Why, Points: int32(g.Points), Value: finite(g.Value)})
	}
	return answer, err
}

func ruleReport(t series.Tried) *argosyv1.RuleReport {
	report := &argosyv1.RuleReport{Rule: t.Rule, Refused: t.Refused}
	if t.Report == nil {
		return report
	}
	report.Reduce, report.Points, report.Ranks = string(t.Reduce), int32(t.Points), int32(t.Ranks)
	report.MoreMatches, report.MoreMisses = int32(t.MoreMatches), int32(t.MoreMisses)
	for _, reduce := range series.Reduces {
		if v, found := t.Results[string(reduce)]; found {
			report.Results = append(report.Results, &argosyv1.ReducedValue{Reduce: string(reduce), Value: finite(float64(v))})
		}
	}
	for _, l := range t.Matches {
		line := &argosyv1.RuleLine{Line: int32(l.Line), Rank: rankOf(l.Rank), Text: strings.ToValidUTF8(l.Text, "�"), Unit: l.Unit, Summary: l.Summary}
		if l.Value != nil {
			line.Value = finite(float64(*l.Value))
		}
		report.Matches = append(report.Matches, line)
	}
	for _, l := range t.Misses {
		report.Misses = append(report.Misses, &argosyv1.RuleLine{Line: int32(l.Line), Rank: rankOf(l.Rank), Text: strings.ToValidUTF8(l.Text, "�"), Miss: l.Miss})
	}
	return report
}

func rankOf(rank *int) *int32 {
	if rank == nil {
		return nil
	}
	n := int32(*rank)
	return &n
}
