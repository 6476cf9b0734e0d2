package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/metrictest"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/launcher/scrape/trial"
)

const metricsTestHelp = `Test reads a log from FILE or standard input. For each rule it lists the matching lines, the result of each reduction, and lines that
nearly match with the reason. A rule is NAME[:FORMAT[:REDUCE[:REGEX]]], as in a step's metrics. Runs use the same parser.

Without a rule it suggests some. The exit code is 1 when a rule matches no line, or none can be suggested.`

// metricRules are the commands for rules that read metrics from logs.
type metricRules struct{ *cli }

func (c metricRules) command() *cobra.Command {
	return group("metrics", "Rules that read metrics from logs: test", c.test())
}

func (c metricRules) test() *cobra.Command {
	var rules []string
	var show int
	cmd := &cobra.Command{
		Use: "test [FILE] [--rule RULE]...", Short: "Try metric rules on a log, or suggest rules", Long: metricsTestHelp,
		Example: "  argosy metrics test --rule images/sec < train.log\n  argosy run logs my-run train | argosy metrics test --rule loss:RAW:min --rule images/sec::sum\n" +
			"  argosy metrics test train.log",
		Args: args(cobra.MaximumNArgs(1), "one file, or none for standard input"),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			log := c.in
			if len(args) == 1 && args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return exit.With(exit.Usage, err)
				}
				defer file.Close()
				log = file
			} else if in, ok := c.in.(*os.File); ok && terminal.Is(in) {
				return exit.Usagef("say which log to read: argosy metrics test FILE, or < FILE")
			}
			if show < 0 {
				return exit.Usagef("--show %d: want a number of lines", show)
			}
			if len(rules) == 0 {
				return c.suggest(log, show)
			}
			reports, err := trial.Try(log, rules, show)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			return c.report(reports)
		},
	}
	cmd.Flags().StringArrayVar(&rules, "rule", nil, "`rule` to try, such as images/sec or loss:RAW:min; may be repeated")
	cmd.Flags().IntVar(&show, "show", 10, "list at most `n` matching lines, and as many that nearly match")
	must(cmd.RegisterFlagCompletionFunc("rule", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("show", cobra.NoFileCompletions))
	return cmd
}

func (c metricRules) report(reports []*trial.Report) error {
	p := c.printer()
	err := p.Print(reports, func() {
		for _, r := range reports {
			metrictest.Print(p, r)
		}
	})
	var without []string
	for _, r := range reports {
		if r.Points == 0 {
			without = append(without, r.Rule)
		}
	}
	if len(without) > 0 {
		err = errors.Join(err, fmt.Errorf("no line matches %s", strings.Join(without, ", ")))
	}
	return err
}

// suggest proposes rules for a log, and shows what the first of them finds.
func (c metricRules) suggest(log io.Reader, show int) error {
	const most = 64 << 20
	text, err := io.ReadAll(io.LimitReader(trial.JobOnly(log), most))
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("read the log: %w", err))
	}
	suggestions := scrape.Suggest(text)
	if len(suggestions) == 0 {
		return errors.New("the log has no number to suggest a rule for: print it as name=1.5 or name: 1.5, or try a regular expression with --rule NAME:::REGEX")
	}
	reports, err := trial.Try(bytes.NewReader(text), []string{suggestions[0].Rule}, show)
	if err != nil {
		return err
	}
	type suggestion struct {
		Rule   string      `json:"rule"`
		Why    string      `json:"why"`
		Points int         `json:"points"`
		Value  trial.Value `json:"value"`
	}
	var view []suggestion
	var rows [][]string
	for _, s := range suggestions {
		view = append(view, suggestion{s.Rule, s.Why, s.Points, trial.Value(s.Value)})
		rows = append(rows, []string{s.Rule, strconv.Itoa(s.Points), trial.Value(s.Value).String(), s.Why})
	}
	p := c.printer()
	return p.Print(view, func() {
		p.Heading("Suggested rules")
		p.Rows("", []string{"rule", "numbers", "result", "for"}, rows)
		metrictest.Print(p, reports[0])
	})
}
