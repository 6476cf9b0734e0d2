package terminal

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func TestPlain(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := Plain(&out)
	stop := s.Busy("working")
	s.Printf("line %d", 1)
	s.Logger(slog.LevelWarn).Info("not shown")
	s.Logger(slog.LevelWarn).Warn("shown", "key", 1)
	stop()
	stop()
	require.Regexp(t, `^line 1\n\S+ WRN shown key=1\n$`, out.String())
	require.Equal(t, Good, s.Mark(Good))
	require.False(t, s.HasColor())
}

// moving records what is written, and when.
type moving struct{ written chan string }

func (m *moving) Write(p []byte) (int, error) {
	select {
	case m.written <- string(p):
	default: // the test has seen enough
	}
	return len(p), nil
}

func TestBusyMovesBelowTheLines(t *testing.T) {
	t.Parallel()
	m := &moving{written: make(chan string, 1000)}
	s := &Screen{out: m, moves: true, color: true}
	stop := s.Busy("working")
	for text := range m.written {
		if strings.Contains(text, "working") {
			break
		}
	}
	s.Printf("a line")
	var seen strings.Builder
	for !strings.Contains(seen.String(), "a line\n") {
		seen.WriteString(<-m.written)
	}
	require.Contains(t, seen.String(), "\x1b[2K\ra line\n", "the moving line is wiped before the line")
	s.Busy("more") // takes the place of the first
	stop()
	s.Idle()
	require.Equal(t, "\x1b[32m✓\x1b[0m", s.Mark(Good))
}

func TestColor(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	require.False(t, Color(os.Stderr))
	t.Setenv("NO_COLOR", "")
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	require.False(t, Color(f), "a file is no terminal")
	s := New(f)
	s.Busy("working")()
	s.Printf("done %v", time.Second)
	data, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Equal(t, "done 1s\n", string(data))
}
