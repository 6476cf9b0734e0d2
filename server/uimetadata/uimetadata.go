// Package uimetadata reads the files that steps write for the UI to draw (KFP v1's mlpipeline-ui-metadata), and reports their faults.
package uimetadata

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/server/artifact"
)

// ArtifactName is the output artifact that holds a step's visualizations.
const ArtifactName = "mlpipeline-ui-metadata"

// Limits of a file, and of what is kept of it beside the artifact, which stays as it is.
const (
	maxFile    = 32 << 20
	maxOutputs = 100
	maxSource  = 1 << 20  // of an output: a longer one is left out
	maxRaw     = 64 << 10 // of what cannot be drawn: the rest is cut
)

// Output is one thing to draw.
type Output struct {
	Type       string   `json:"type"`
	Source     string   `json:"source,omitempty"`
	SourceSize int64    `json:"source_size,omitempty"` // bytes of a source that is left out
	Storage    string   `json:"storage,omitempty"`     // "inline": Source is the content; otherwise Source says where it lies
	Format     string   `json:"format,omitempty"`
	Header     []string `json:"header,omitempty"`
	Schema     []Column `json:"schema,omitempty"`
	Labels     []string `json:"labels,omitempty"`
}

// Entry is one output of a file, or what is wrong with the whole file.
type Entry struct {
	Number  int    // place in the file, from 1; 0: the file itself
	Output  Output // where it can be drawn; else as far as it could be read
	Problem string // why it cannot be drawn; empty: it can
	Raw     []byte // as the step wrote it, where it cannot be drawn
}

// Warning tells people what is wrong; empty: nothing.
func (e Entry) Warning() string {
	if e.Problem == "" || e.Number == 0 {
		return e.Problem
	}
	return fmt.Sprintf("output %d of the UI metadata: %s", e.Number, e.Problem)
}

// Body is what is kept of an entry: an Output as JSON, or what cannot be drawn as the step wrote it.
func (e Entry) Body() []byte {
	if e.Problem != "" {
		return e.Raw
	}
	o := e.Output
	if n := len(o.Source); n > maxSource {
		o.Source, o.SourceSize = "", int64(n)
	}
	body, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("visual: an output does not marshal: %v", err)) // it is of strings
	}
	return body
}

// Kept reads the body of an entry that can be drawn.
func Kept(body []byte) (o Output, err error) { return o, json.Unmarshal(body, &o) }

// Column is one column of a CSV source.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// types maps each kind of output to a check of the fields that it needs in addition to a source.
var types = map[string]func(Output) error{
	"confusion_matrix": confusionMatrix, "roc": roc, "table": table, "markdown": nil, "web-app": nil, "tensorboard": nil,
}

// Read gives the outputs of an artifact. Each is judged by itself.
func Read(r io.Reader) []Entry {
	text, err := artifact.Single(r, maxFile)
	if err != nil {
		return []Entry{{Problem: fmt.Sprintf("the UI metadata cannot be read: %v", err)}}
	}
	return Parse(text)
}

// Parse reads the text of an artifact; see Read.
func Parse(text []byte) (entries []Entry) {
	var file struct {
		Outputs *[]json.RawMessage `json:"outputs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return []Entry{{Problem: fmt.Sprintf("the UI metadata is not JSON of the form {\"outputs\": [...]}: %v", err), Raw: short(text)}}
	}
	if file.Outputs == nil {
		return []Entry{{Problem: `the UI metadata has no "outputs"`, Raw: short(text)}}
	}
	all := *file.Outputs
	if len(all) > maxOutputs {
		entries = append(entries, Entry{Problem: fmt.Sprintf("the UI metadata has %d outputs; only the first %d are shown", len(all), maxOutputs)})
		all = all[:maxOutputs]
	}
	for i, raw := range all {
		o, err := one(raw)
		e := Entry{Number: i + 1, Output: o}
		if err != nil {
			e.Problem, e.Raw = err.Error(), short(raw)
		}
		entries = append(entries, e)
	}
	return entries
}

func short(text []byte) []byte { return text[:min(len(text), maxRaw)] }

func one(raw json.RawMessage) (Output, error) {
	var o Output
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, err
	}
	check, known := types[o.Type]
	switch {
	case o.Type == "":
		return o, fmt.Errorf("it has no type")
	case !known:
		unknown := o.Type
		o.Type = ""
		return o, fmt.Errorf("type %.40q is unknown; it can be confusion_matrix, roc, table, markdown, web-app or tensorboard", unknown)
	case o.Source == "":
		return o, fmt.Errorf("the %s has no source", o.Type)
	case check == nil:
		return o, nil
	case o.Format != "csv":
		return o, fmt.Errorf("the format of a %s is csv, not %.20q", o.Type, o.Format)
	}
	return o, check(o)
}

// rows reads an inline source; the content of others is not at hand, and nil.
func (o Output) rows() ([][]string, error) {
	if o.Storage != "inline" {
		return nil, nil
	}
	r := csv.NewReader(strings.NewReader(o.Source))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("the source of the %s is not CSV: %w", o.Type, err)
	}
	return rows, nil
}

func confusionMatrix(o Output) error {
	if len(o.Schema) < 2 {
		return fmt.Errorf("the schema of a confusion_matrix names at least its two axes")
	}
	if len(o.Labels) == 0 {
		return fmt.Errorf("the confusion_matrix has no labels")
	}
	rows, err := o.rows()
	if err != nil || rows == nil {
		return err
	}
	if want := len(o.Labels) * len(o.Labels); len(rows) != want {
		return fmt.Errorf("a confusion_matrix of %d labels has %d rows, this one has %d", len(o.Labels), want, len(rows))
	}
	for i, row := range rows {
		if len(row) < 3 || !slices.Contains(o.Labels, row[0]) || !slices.Contains(o.Labels, row[1]) || !isNumber(row[2]) {
			return fmt.Errorf("row %d of the confusion_matrix is not of the form label,label,count", i+1)
		}
	}
	return nil
}

func roc(o Output) error {
	at := map[string]int{}
	for i, c := range o.Schema {
		at[c.Name] = i
		if strings.HasPrefix(c.Name, "threshold") {
			at["threshold"] = i
		}
	}
	for _, name := range []string{"fpr", "tpr", "threshold"} {
		if _, ok := at[name]; !ok {
			return fmt.Errorf("the schema of a roc has the columns fpr, tpr and threshold; %s is missing", name)
		}
	}
	rows, err := o.rows()
	for i, row := range rows {
		for _, name := range []string{"fpr", "tpr"} {
			if at[name] >= len(row) || !isNumber(row[at[name]]) {
				return fmt.Errorf("row %d of the roc has no number as %s", i+1, name)
			}
		}
	}
	return err
}

func table(o Output) error {
	if len(o.Header) == 0 {
		return fmt.Errorf("the table has no header")
	}
	_, err := o.rows()
	return err
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil
}
