// Package notebook shows pipelines and runs in Go notebooks, those of the GoNB kernel for Jupyter:
//
//	notebook.Show(MPIRun())                  // the graph of a pipeline
//	run, err = notebook.Watch(ctx, run)      // a run as it goes: its graph, its log, its metrics
//	notebook.Compare(first, second)          // parameters, metrics and times of runs beside each other
//	notebook.Scaling(report)                 // how throughput changes with workers: package scaling
//
// The output is images without scripts. It stays in the saved notebook and looks the same in Jupyter, in exports and on code hosts.
package notebook

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/draw"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// errNoNotebook reports that no notebook is there to show it.
var errNoNotebook = errors.New("this program does not run in a notebook of the GoNB kernel, so there is nowhere to show it (https://github.com/janpfeifer/gonb)")

// Show draws a pipeline. Its error is dsl.Faults where the pipeline has mistakes.
func Show(p *dsl.Pipeline) error {
	g, err := p.Graph()
	if err != nil {
		return err
	}
	svg := draw.Of(g).SVG()
	return display(picture("pipeline "+g.Name, svg), "pipeline "+g.Name)
}

// Option configures Watch.
type Option func(*options)

type options struct {
	client *client.Client
	curves []string
}

// On names the server of the run. The default is client.FromEnv.
func On(c *client.Client) Option { return func(o *options) { o.client = c } }

// Curves names the metrics to draw. The default is every metric that the steps report while they run.
func Curves(names ...string) Option { return func(o *options) { o.curves = names } }

// Watch shows a run in the cell until it ends: its graph with the state of each step, the curves of its metrics, and the last lines of its
// logs. The last state stays in the cell. It returns the ended run; its Status says whether it succeeded.
func Watch(ctx context.Context, run *client.Run, opts ...Option) (*client.Run, error) {
	if !gonbui.IsNotebook {
		return run, errNoNotebook
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if o.client == nil {
		var err error
		if o.client, err = client.FromEnv(); err != nil {
			return run, err
		}
	}
	block := "argosy-" + gonbui.UniqueId()
	w := newWatcher(o.client, o.curves, func(page string) { gonbui.UpdateHTML(block, page) })
	last, err := w.watch(ctx, run)
	gonbui.UpdateHTML(block, "") // what was shown meanwhile lives only as long as the kernel
	return last, errors.Join(err, display(w.page(last), fmt.Sprintf("run %s: %s", last.Name, last.Status)))
}

// Compare shows runs side by side: parameters, those that differ first; a chart of each metric; and durations.
func Compare(runs ...*client.Run) error {
	if len(runs) == 0 {
		return errors.New("there are no runs to compare")
	}
	return display(comparison(client.CompareRuns(runs...)), fmt.Sprintf("comparison of %d runs", len(runs)))
}

// display adds a page to the output of the cell, with a text for readers that show no HTML, and waits until the
// notebook has it.
func display(page, text string) error {
	if !gonbui.IsNotebook {
		return errNoNotebook
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML: page, protocol.MIMETextPlain: text,
	}})
	gonbui.Sync()
	return gonbui.Error()
}

// picture puts a drawing into a page as an image: what else is in HTML, notebooks that are not trusted leave out.
func picture(about, svg string) string {
	return fmt.Sprintf(`<img alt="%s" style="max-width:100%%" src="data:image/svg+xml;base64,%s"/>`,
		html.EscapeString(about), base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(svg))))
}
