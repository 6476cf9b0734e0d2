package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Paths are the files that the launcher leaves for the workflow.
type Paths struct {
	Metrics     string // KFP's metrics artifact
	JobName     string
	WorldSize   string
	Environment string // what the job ran on
	Termination string // the pod's termination message; left alone where it does not exist
}

// DefaultPaths are where the compiled pipeline looks.
func DefaultPaths() Paths {
	return Paths{
		Metrics: "/mlpipeline-metrics.json", JobName: "/tmp/argosy/job-name", WorldSize: "/tmp/argosy/world-size", Environment: "/tmp/argosy/environment",
		Termination: "/dev/termination-log",
	}
}

// kfpMetrics is the content of the metrics artifact.
type kfpMetrics struct {
	Metrics []kfpMetric `json:"metrics"`
}

type kfpMetric struct {
	Name        string        `json:"name"`
	NumberValue float64       `json:"numberValue"`
	Format      scrape.Format `json:"format"`
}

// writeMetrics writes the metrics that have a value, and says which have none.
func writeMetrics(file string, metrics []scrape.Metric, say func(string, ...any)) error {
	if len(metrics) == 0 {
		return nil
	}
	out := kfpMetrics{Metrics: []kfpMetric{}}
	for _, m := range metrics {
		switch {
		case m.Points == 0:
			if m.Pattern != nil {
				say("metric %s was not found: no line has a number where %s looks for it", m.Name, m.Pattern)
			} else {
				say("metric %s was not found: print it as %q or %q", m.Name, m.Name+"=1.5", m.Name+": 1.5")
			}
		case !m.Finite():
			say("metric %s is %v at the end and cannot be recorded", m.Name, m.Value)
		default:
			say("metric %s = %s (%s of %d)", m.Name, strconv.FormatFloat(m.Value, 'g', -1, 64), m.Reduce, m.Points)
			out.Metrics = append(out.Metrics, kfpMetric{Name: m.Name, NumberValue: m.Value, Format: m.Format})
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encode metrics: %w", err)
	}
	return writeFile(file, string(text)+"\n")
}

func writeFile(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // the executor reads it, as another user
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// maxTermination leaves room below the 4 KiB that Kubernetes keeps.
const maxTermination = 3 << 10

// terminationMessage is the cause and as many of the last lines as there is room for.
func terminationMessage(cause string, lines []string) string {
	if len(cause) > maxTermination {
		cause = cause[:maxTermination]
	}
	room := maxTermination - len(cause)
	from := len(lines)
	for from > 0 && room > len(lines[from-1]) {
		from--
		room -= len(lines[from]) + 1
	}
	return strings.ToValidUTF8(strings.Join(append([]string{cause}, lines[from:]...), "\n"), "?")
}

// writeTermination fills the file that the kubelet provides. Outside a pod there is none.
func writeTermination(file, message string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the termination message: %w", err)
	}
	_, err = f.WriteString(message)
	return errors.Join(err, f.Close())
}
