package train

import "github.com/argosy-ml/argosy/sdk/dsl"

// Metric is a number to read from the job's output: where it prints Name=value or Name: value. Either Name or
// NameFrom is set.
type Metric struct {
	Name string
	// NameFrom is a name that is known only when the pipeline runs. It may bring Format and Reduce along,
	// as in "accuracy:PERCENTAGE:max".
	NameFrom dsl.Value[string]
	// Format says how the number is shown: Raw unless set.
	Format Format
	// Reduce makes one number out of all that are printed: Last unless set.
	Reduce Reduce
	// Pattern is the way out for output of other forms: a regular expression of Go's syntax for a line, whose first
	// group, or all of it, is the number.
	Pattern string
}

// Format is how a metric is shown.
type Format string

// The formats of metrics.
const (
	Raw        Format = "RAW"
	Percentage Format = "PERCENTAGE" // a number between 0 and 1
)

// Reduce is how many numbers become one.
type Reduce string

// The ways to reduce.
const (
	Last Reduce = "last"
	Max  Reduce = "max"
	Min  Reduce = "min"
	Mean Reduce = "mean"
	// SumOverRanks adds up the last number of each process. Where the job prints the total itself, as in
	// "total images/sec: 3033.57", that number counts, once.
	SumOverRanks Reduce = "sum-over-ranks"
)

// rule is the metric as the launcher reads it, NAME[:FORMAT[:REDUCE[:REGEX]]].
func (m Metric) rule() dsl.Value[string] {
	name := m.NameFrom
	if !name.IsSet() {
		name = dsl.Lit(m.Name)
	}
	switch {
	case m.Pattern != "":
		return dsl.Sprintf("%v:%s:%s:%s", name, m.Format, m.Reduce, m.Pattern)
	case m.Reduce != "":
		format := m.Format
		if format == "" {
			format = Raw
		}
		return dsl.Sprintf("%v:%s:%s", name, format, m.Reduce)
	case m.Format != "":
		return dsl.Sprintf("%v:%s", name, m.Format)
	}
	return name
}
