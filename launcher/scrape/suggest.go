package scrape

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Suggestion is a rule that finds numbers in a log.
type Suggestion struct {
	Rule string // as ParseRule reads it
	// Why says what the rule is made for.
	Why    string
	Points int // how many numbers it finds
	Value  float64

	rank int
}

const (
	maxNames       = 1 << 10 // names that are counted
	maxSuggestions = 8
)

// Suggest reads a log and proposes rules for it, the most useful first. Each one was tried on the lines that were kept.
func Suggest(log []byte) []Suggestion {
	n := &names{counts: map[string]int{}, summaries: map[string]bool{}, percent: map[string]bool{}, ranks: map[string]map[int]struct{}{}}
	s := newSplitter(n.line)
	s.write(log)
	s.close()
	var tried []Suggestion
	for _, g := range n.suggestions() {
		rule, err := ParseRule(g.Rule)
		if err != nil {
			continue // a name with a colon
		}
		scan := New([]Rule{rule})
		_, _ = scan.Write(log)
		_ = scan.Close()
		m := scan.Metrics()[0]
		if g.Points, g.Value = m.Points, m.Value; m.Finite() {
			tried = append(tried, g)
		}
	}
	slices.SortStableFunc(tried, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.Points, a.Points), strings.Compare(a.Rule, b.Rule))
	})
	return tried[:min(len(tried), maxSuggestions)]
}

// names counts what stands in front of numbers.
type names struct {
	counts    map[string]int
	summaries map[string]bool // printed as a total, too
	percent   map[string]bool
	ranks     map[string]map[int]struct{}
	speeds    map[string]int // units of numbers without a name, such as img/sec
}

// speed finds a rate that is written behind its number.
var speed = regexp.MustCompile(`(?:^|[\s=:(])[-+]?\d[\d.,]*\s?([A-Za-z]+/s(?:ec)?)(?:[^\w/]|$)`)

func (n *names) line(rank int, line []byte) {
	named := false
	for i, c := range line {
		if c != '=' && c != ':' {
			continue
		}
		m, ok := valueAfter(line[i:])
		name := nameBefore(line[:i])
		if !ok || name == "" {
			continue
		}
		named = named || rates.MatchString(name)
		if rest, isSummary := cutSummary(name); isSummary {
			name = rest
			n.summaries[name] = true
		}
		if n.counts[name] == 0 && len(n.counts) >= maxNames {
			continue
		}
		n.counts[name]++
		n.percent[name] = n.percent[name] || string(m.unit) == "%"
		if n.ranks[name] == nil {
			n.ranks[name] = map[int]struct{}{}
		}
		n.ranks[name][rank] = struct{}{}
	}
	if found := speed.FindSubmatch(line); found != nil && !named {
		if n.speeds == nil {
			n.speeds = map[string]int{}
		}
		if unit := string(found[1]); n.speeds[unit] > 0 || len(n.speeds) < maxNames {
			n.speeds[unit]++
		}
	}
}

// nameBefore is the name that ends before a separator: the words since a tab, a comma, a bracket or another value.
func nameBefore(b []byte) string {
	b = bytes.TrimRight(b, " \t\"'")
	if at := bytes.LastIndexAny(b, "\t,;|({[\"'=:>"); at >= 0 {
		b = b[at+1:]
	}
	if at := bytes.LastIndex(b, []byte("  ")); at >= 0 {
		b = b[at+2:]
	}
	words := strings.Fields(string(b))
	for i := len(words) - 1; i >= 0; i-- {
		if _, size := number([]byte(words[i])); size > 0 || !strings.ContainsFunc(words[i], func(r rune) bool { return r < 0x80 && isLetter(byte(r)) }) {
			words = words[i+1:]
			break
		}
	}
	const most = 4 // more are a sentence, whose last word is the name
	if len(words) > most {
		words = words[len(words)-1:]
	}
	name := strings.Join(words, " ")
	if len(name) > 60 || !bytes.Contains(b, []byte(name)) { // blanks of another number between its words
		return ""
	}
	return name
}

// cutSummary takes "total" off a name.
func cutSummary(name string) (string, bool) {
	first, rest, _ := strings.Cut(name, " ")
	if rest != "" && summary(nil, []byte(name)) && first != "" {
		return rest, true
	}
	return name, false
}

var (
	rates    = regexp.MustCompile(`(?i)/s(ec)?\b|per[_ ]sec|throughput|(^|[_. ])ips\b|\bfps\b|samples_per|tokens_per|bandwidth|ns/day|^speed$|^performance$`)
	losses   = regexp.MustCompile(`(?i)loss|perplexity|error|wer\b`)
	scores   = regexp.MustCompile(`(?i)acc(uracy)?\b|top[-_ ]?[15]|\bf1\b|bleu|auc|map\b|score`)
	counters = regexp.MustCompile(`(?i)^(global[_ ]?)?(epochs?|steps?|iter(ation)?s?|batch(es)?|rank|world[_ ]?size|pid|port|seed|v_num|line|size|time|date|info|warning|jitter|version|np|uid|job|process|nodes?)$`)
)

// suggestions are rules for what was counted.
func (n *names) suggestions() []Suggestion {
	var all []Suggestion
	for name, count := range n.counts {
		switch {
		case counters.MatchString(name):
		case rates.MatchString(name) && n.summaries[name]:
			all = append(all, Suggestion{Rule: name, Why: "throughput; the job prints the total of all ranks", rank: 4})
		case rates.MatchString(name) && len(n.ranks[name]) > 1:
			all = append(all, Suggestion{Rule: name + ":RAW:sum", Why: "throughput, added up over the ranks; leave :RAW:sum away if every rank prints that of all", rank: 4})
		case rates.MatchString(name):
			all = append(all, Suggestion{Rule: name, Why: "throughput, as it was last", rank: 4})
		case scores.MatchString(name) && n.percent[name]:
			all = append(all, Suggestion{Rule: name + ":PERCENTAGE:max", Why: "the best value, which is printed as a percentage", rank: 2})
		case scores.MatchString(name):
			all = append(all, Suggestion{Rule: name + ":RAW:max", Why: "the best value", rank: 2})
		case losses.MatchString(name):
			all = append(all, Suggestion{Rule: name, Why: "the last value; " + name + ":RAW:min is the least", rank: 3})
		case count > 1:
			all = append(all, Suggestion{Rule: name, Why: "the last value", rank: 1})
		}
	}
	for unit := range n.speeds {
		all = append(all, Suggestion{Rule: unit + `:::([0-9.,]+) ?` + regexp.QuoteMeta(unit), Why: "throughput whose number stands before its unit", rank: 3})
	}
	return all
}
