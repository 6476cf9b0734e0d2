// Package metric reads the metrics files that steps leave behind (KFP v1's mlpipeline-metrics).
package metric

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/argosy-ml/argosy/server/artifact"
	"github.com/argosy-ml/argosy/server/run"
)

// ArtifactName is the output artifact that holds a step's metrics.
const ArtifactName = "mlpipeline-metrics"

// Limits of a metrics file.
const (
	maxFile = 4 << 20
	maxList = 1000 // metrics of one step
	maxName = 128  // characters
)

// Read returns the metrics in an artifact: a .tgz with one file, a .gz, or the file itself. A faulty metric becomes a warning and the
// others are kept. Names stay unchanged.
func Read(r io.Reader) (ms []run.Metric, warnings []string) {
	text, err := artifact.Single(r, maxFile)
	if err != nil {
		return nil, []string{fmt.Sprintf("the metrics file cannot be read: %v", err)}
	}
	return Parse(text)
}

// Parse reads the text of a metrics file; see Read.
func Parse(text []byte) (ms []run.Metric, warnings []string) {
	var file struct {
		Metrics []json.RawMessage `json:"metrics"`
	}
	err := json.Unmarshal(text, &file)
	if err != nil {
		err = json.Unmarshal(notNumber.ReplaceAll(text, []byte(`$1"$2"`)), &file)
	}
	if err != nil {
		return nil, []string{fmt.Sprintf(`the metrics file is not of the form {"metrics": [{"name": ..., "numberValue": ...}]}: %v`, err)}
	}
	if len(file.Metrics) > maxList {
		warnings = append(warnings, fmt.Sprintf("the metrics file has %d metrics; only the first %d are kept", len(file.Metrics), maxList))
		file.Metrics = file.Metrics[:maxList]
	}
	for i, raw := range file.Metrics {
		m, warning, ok := one(raw)
		if warning != "" {
			warnings = append(warnings, fmt.Sprintf("metric %d of the file%s: %s", i+1, quoted(m.Name), warning))
		}
		if ok {
			ms = append(ms, m)
		}
	}
	return ms, warnings
}

// notNumber finds what Python writes for values that JSON has no word for.
var notNumber = regexp.MustCompile(`(:\s*)(-?Infinity|NaN)\b`)

// one reads a single metric; a warning does not always mean that it is refused.
func one(raw json.RawMessage) (m run.Metric, warning string, ok bool) {
	var entry struct {
		Name   *string         `json:"name"`
		Camel  json.RawMessage `json:"numberValue"`
		Snake  json.RawMessage `json:"number_value"`
		Format json.RawMessage `json:"format"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return m, "it is not a metric: " + err.Error(), false
	}
	if entry.Name == nil {
		return m, "it has no name", false
	}
	m.Name = strings.TrimSpace(*entry.Name)
	switch {
	case m.Name == "":
		return m, "its name is empty", false
	case utf8.RuneCountInString(m.Name) > maxName:
		m.Name = string([]rune(m.Name)[:maxName])
		return m, fmt.Sprintf("its name is longer than %d characters", maxName), false
	case strings.ContainsFunc(m.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return m, "its name has characters that cannot be shown", false
	}
	number := entry.Camel
	if number == nil {
		number = entry.Snake
	}
	if m.Value, warning = valueOf(number); warning != "" {
		return m, warning, false
	}
	m.Format, warning = formatOf(entry.Format)
	return m, warning, true
}

func valueOf(number json.RawMessage) (float64, string) {
	if len(number) == 0 || string(number) == "null" {
		return 0, "it has no numberValue"
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(string(number), `"`)), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Sprintf("its value %.40s is not a number", number)
	case math.IsNaN(value) || math.IsInf(value, 0):
		return 0, fmt.Sprintf("its value %.40s is not finite", number)
	}
	return value, ""
}

// formatOf reads a format by its name or by its number on the wire.
func formatOf(raw json.RawMessage) (format, warning string) {
	switch strings.ToUpper(strings.Trim(string(raw), `"`)) {
	case "", "NULL", "RAW", "UNSPECIFIED", "0", "1":
		return run.Raw, ""
	case "PERCENTAGE", "2":
		return run.Percentage, ""
	}
	return run.Raw, fmt.Sprintf("its format %.40s is neither RAW nor PERCENTAGE; RAW is assumed", raw)
}

func quoted(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", name)
}
