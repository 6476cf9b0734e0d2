package series

import (
	"io"
	"strings"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/launcher/scrape/trial"
)

// Tried is what a rule found in a log.
type Tried struct {
	*trial.Report        // nil: the rule cannot be read
	Rule          string // as it was given
	Refused       string // why it cannot be read
}

// TryRules tries rules on a log as runs read theirs, with at most so many lines of each sort. The result of a rule that
// cannot be parsed says why; the others are tried all the same.
func TryRules(log string, rules []string, show int) ([]Tried, error) {
	tried := make([]Tried, len(rules))
	for i, text := range rules {
		tried[i].Rule = text
		if _, err := scrape.ParseRule(text); err != nil {
			tried[i].Refused = err.Error()
			continue
		}
		reports, err := trial.Try(strings.NewReader(log), []string{text}, show)
		if err != nil {
			return nil, err
		}
		tried[i].Report = reports[0]
	}
	return tried, nil
}

// Suggest proposes rules for a log, the most useful first.
func Suggest(log string) ([]scrape.Suggestion, error) {
	text, err := io.ReadAll(trial.JobOnly(strings.NewReader(log)))
	return scrape.Suggest(text), err
}

// Reduces are all ways to make one number of many.
var Reduces = trial.Reduces
