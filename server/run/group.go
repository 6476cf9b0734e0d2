package run

// Grouping asks for groups of runs.
type Grouping struct {
	By      string   // a parameter
	Metrics []string // to sum up
	Limit   int
}

// Group is the runs that have the same value of a parameter.
type Group struct {
	Value  string
	Lacks  bool // they do not have the parameter
	Runs   int
	Spread []Spread // of the metrics, in the order in which they were asked for
}

// Spread sums up a metric over the runs that have it.
type Spread struct {
	Runs                      int
	Mean, Deviation, Min, Max float64 // Deviation is not a number for fewer than two runs
}
