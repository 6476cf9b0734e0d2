package runview

import (
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// VisualTable lists what the steps of a run left to look at.
func VisualTable(p output.Printer, r *client.Run, visuals []client.Visual) {
	var rows [][]string
	for _, v := range visuals {
		number := ""
		if v.Number > 0 {
			number = fmt.Sprint(v.Number)
		}
		rows = append(rows, []string{r.Step(v.NodeID), number, v.Type, v.Problem})
	}
	p.Rows("nothing to look at", []string{"step", "number", "type", "problem"}, rows)
}

// Draw prints one thing to look at: what has rows in columns, other things as they are.
func Draw(p output.Printer, v client.Visual) {
	switch {
	case v.Problem != "":
		fmt.Fprintf(p.Out, "%s\n", v.Problem)
		printText(p, v.Raw)
	case v.SourceSize > 0:
		fmt.Fprintf(p.Out, "%s of %d bytes: see the artifact mlpipeline-ui-metadata\n", v.Type, v.SourceSize)
	case v.Storage != client.Inline && v.Type != client.Markdown && v.Type != client.WebApp:
		fmt.Fprintf(p.Out, "%s at %s\n", v.Type, v.Source)
	case v.Type == client.Table:
		drawRows(p, v, v.Header)
	case v.Type == client.ROC, v.Type == client.ConfusionMatrix:
		var header []string
		for _, c := range v.Schema {
			header = append(header, c.Name)
		}
		drawRows(p, v, header)
	default:
		printText(p, v.Source)
	}
}

func drawRows(p output.Printer, v client.Visual, header []string) {
	r := csv.NewReader(strings.NewReader(v.Source))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	rows, err := r.ReadAll()
	if err != nil {
		printText(p, v.Source)
		return
	}
	p.Rows(v.Type+" without rows", header, rows)
}

func printText(p output.Printer, text string) {
	fmt.Fprint(p.Out, text)
	if !strings.HasSuffix(text, "\n") {
		fmt.Fprintln(p.Out)
	}
}
