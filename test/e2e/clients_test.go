//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// blots are what differs from one session to the next.
var blots = []struct {
	what *regexp.Regexp
	blot string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<id>"},
	{regexp.MustCompile(`"20\d\d-\d\d-\d\dT[0-9:]+Z"`), `"<time>"`},
	{regexp.MustCompile(`(?m)"tagName": ".*"`), `"tagName": "<version>"`},
	{regexp.MustCompile(`(?m)^  "commitSha": ".*",\n`), ``}, // of builds from a git repository
	{regexp.MustCompile(`(?m)\n  "commitSha": ".*",?`), ""},
}

// replaysSession runs the commands of docs/clients.md and compares what they print with what is written there.
func (a *argosy) replaysSession(t *testing.T, grpc string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "grpcurl")
	build := exec.Command("go", "build", "-modfile=tools/go.mod", "-o", program, "github.com/fullstorydev/grpcurl/cmd/grpcurl")
	build.Dir = repository
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	var pipeline struct{ ID string }
	a.upload(t, "one-step-for-grpcurl", "one.yaml", []byte(oneStep), 200, &pipeline)
	id := a.createRun(t, "by grpcurl", pipeline.ID, map[string]string{"word": "hi"})
	require.Equal(t, "Succeeded", a.await(t, id, 3*time.Minute, runView.final).Status)

	text, err := os.ReadFile(filepath.Join(repository, "docs/clients.md"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "```console\n")
	recorded, _, _ := strings.Cut(rest, "```\n")
	var session strings.Builder
	for line := range strings.Lines(recorded) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		session.WriteString(line)
		c := exec.Command("sh", "-c", command)
		c.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "ARGOSY="+grpc, "RUN="+id)
		printed, _ := c.CombinedOutput() // what is refused ends with a code of its own
		for _, b := range blots {
			printed = b.what.ReplaceAll(printed, []byte(b.blot))
		}
		session.Write(printed)
	}
	if os.Getenv("ARGOSY_RECORD") != "" {
		for _, page := range []string{"docs/clients.md", "docs/zh/clients.md"} {
			file := filepath.Join(repository, page)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			before, rest, _ := strings.Cut(string(text), "```console\n")
			_, after, _ := strings.Cut(rest, "```\n")
			require.NoError(t, os.WriteFile(file, []byte(before+"```console\n"+session.String()+"```\n"+after), 0o644))
		}
		return
	}
	require.Equal(t, recorded, session.String())
}
