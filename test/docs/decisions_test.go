package docs

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDecisions: each decision record has its number, a status and a date, and a row in the index with the same title, status and date.
func TestDecisions(t *testing.T) {
	t.Parallel()
	index := read(t, "docs/adr/README.md").prose
	head := regexp.MustCompile(`^# (\d+)\. (.+)\n\nStatus: (accepted|superseded by \[\d+\]\([^)]+\)), (\d{4}-\d{2}-\d{2})\.`)
	for _, name := range walk(t, ".md") {
		if path.Dir(name) != "docs/adr" || path.Base(name) == "README.md" {
			continue
		}
		parts := head.FindStringSubmatch(read(t, name).prose)
		require.NotNil(t, parts, "%s begins with its number and title, and then `Status: accepted, 2026-11-21.`", name)
		number := strings.TrimLeft(path.Base(name)[:4], "0")
		require.Equal(t, number, parts[1], name)
		row := "| [" + number + "](" + path.Base(name) + ") | " + parts[2] + " | " + parts[3] + " | " + parts[4] + " |"
		require.Contains(t, strings.Split(index, "\n"), row, "docs/adr/README.md")
	}
}
