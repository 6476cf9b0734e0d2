package scrape

import (
	"regexp"
	"strconv"
)

// Words that programs write in front of the number of a step, those that count finer first.
var stepWords = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(?:^|[^\w./-])(?:global[_ ]?)?steps?["']?\s*[:=#]?\s*[\[(]?\s*(\d{1,15})(?:[^\w.]|\.\D|\.?$)`),
	regexp.MustCompile(`(?i)(?:^|[^\w./-])iter(?:ation)?s?["']?\s*[:=#]?\s*[\[(]?\s*(\d{1,15})(?:[^\w.]|\.\D|\.?$)`),
	regexp.MustCompile(`(?i)(?:^|[^\w./-])batch(?:es)?["']?\s*[:=#]?\s*[\[(]?\s*(\d{1,15})(?:[^\w.]|\.\D|\.?$)`),
	regexp.MustCompile(`(?i)(?:^|[^\w./-])epochs?["']?\s*[:=#]?\s*[\[(]?\s*(\d{1,15})(?:[^\w.]|\.\D|\.?$)`),
}

// stepColumn is the first column of a table, as tf_cnn_benchmarks prints it: "10\timages/sec: 189.6 +/- 0.4".
var stepColumn = regexp.MustCompile(`^\s*(\d{1,15})\t`)

// stepOf finds the step that a line is about: "step 10", "Iteration: 20", "epoch [3/9]", or a first column.
func stepOf(line []byte) (step int64, ok bool) {
	for _, pattern := range append([]*regexp.Regexp{stepColumn}, stepWords...) {
		if found := pattern.FindSubmatch(line); found != nil {
			n, err := strconv.ParseInt(string(found[1]), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
