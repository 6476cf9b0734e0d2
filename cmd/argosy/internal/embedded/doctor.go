package embedded

import (
	"context"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// Finding is what a check of the machine found.
type Finding struct {
	Check string   `json:"check"`
	Level string   `json:"level"` // OK, Warn or Block
	Says  string   `json:"says"`
	Mend  []string `json:"mend,omitempty"` // lines for a shell; those that begin with # explain
}

// The levels of findings.
const (
	OK    = "ok"
	Warn  = "warn"  // it runs, with less
	Block = "block" // it does not run
)

// Examine asks argosy-cluster what the machine has for a cluster in the folder. Version is that of argosy-cluster.
func Examine(ctx context.Context, h home.Home) (version string, findings []Finding, err error) {
	var report struct {
		Version  string
		Findings []Finding
	}
	err = ask(ctx, &report, "doctor", "--home", string(h), "-o", "json")
	return report.Version, report.Findings, err
}
