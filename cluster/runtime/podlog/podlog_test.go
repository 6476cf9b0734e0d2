package podlog

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// text is what was said in a life, as far as it is kept.
func text(t *testing.T, life Life) (stdout, stderr string) {
	t.Helper()
	segments, err := life.Segments()
	require.NoError(t, err)
	said := map[string]*strings.Builder{Stdout: {}, Stderr: {}}
	for _, s := range segments {
		b, err := os.ReadFile(life.Segment(s))
		require.NoError(t, err)
		for line := range bytes.Lines(b) {
			e, err := ParseEntry(bytes.TrimSuffix(line, []byte("\n")))
			require.NoError(t, err)
			said[e.Stream].Write(e.Text)
			if e.Whole {
				said[e.Stream].WriteByte('\n')
			}
		}
	}
	return said[Stdout].String(), said[Stderr].String()
}

func TestPumpKeepsEveryByte(t *testing.T) {
	t.Parallel()
	said := strings.Repeat("a very long line ", 10_000) + "\n" + strings.Repeat("short\n", 20_000) + "end without line feed"
	life := Life{Folder: t.TempDir()}
	w, err := Create(life)
	require.NoError(t, err)
	require.NoError(t, w.Pump(Stdout, strings.NewReader(said)))
	require.NoError(t, w.Pump(Stderr, strings.NewReader("wrong\n")))
	require.NoError(t, w.Close())
	stdout, stderr := text(t, life)
	require.Equal(t, said, stdout)
	require.Equal(t, "wrong\n", stderr)
}

func TestOnlySoMuchIsKept(t *testing.T) {
	t.Parallel()
	life := Life{Folder: t.TempDir(), Number: 3}
	w, err := Create(life)
	require.NoError(t, err)
	w.limit = 1000
	for range 100 {
		require.NoError(t, w.Pump(Stdout, strings.NewReader(strings.Repeat("x", 400)+"\n")))
	}
	require.NoError(t, w.Close())
	segments, err := life.Segments()
	require.NoError(t, err)
	require.Equal(t, []int{45, 46, 47, 48, 49}, segments, "two entries fit into each")
	for _, s := range segments {
		fi, err := os.Stat(life.Segment(s))
		require.NoError(t, err)
		require.LessOrEqual(t, fi.Size(), int64(1000))
	}
}

func TestLives(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	lives, err := Lives(folder + "/none")
	require.NoError(t, err)
	require.Empty(t, lives)
	for n := range 12 {
		w, err := Create(Life{folder, n})
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	require.NoError(t, Life{folder, 12}.WriteExit(Exit{Code: 128, Fault: "no such program"}))
	lives, err = Lives(folder)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, lives)
	require.True(t, Life{folder, 12}.Over())
	require.False(t, Life{folder, 1}.Over())
	_, err = Life{folder, 1}.ReadExit()
	require.ErrorIs(t, err, fs.ErrNotExist)
	e, err := Life{folder, 12}.ReadExit()
	require.NoError(t, err)
	require.Equal(t, "no such program", e.Fault)
	require.NoError(t, Life{folder, 10}.Forget())
	lives, err = Lives(folder)
	require.NoError(t, err)
	require.NotContains(t, lives, 10)
}

func FuzzParseEntry(f *testing.F) {
	f.Add([]byte("2026-01-02T03:04:05.000000000Z stdout F text"))
	f.Add([]byte("2026-01-02T03:04:05.000000000Z stderr P "))
	f.Add([]byte("2026-01-02T03:04:05.000000000Z stdout X text"))
	f.Add([]byte("2026-01-02T03:04:05.000000000Z nowhat F text"))
	f.Add([]byte(""))
	f.Add([]byte("2026-13-02T03:04:05.000000000Z stdout F text"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := ParseEntry(line)
		if err != nil || bytes.ContainsRune(line, '\n') {
			return
		}
		var b bytes.Buffer
		piece := append(bytes.Clone(e.Text), "\n"...)
		if !e.Whole {
			piece = e.Text
		}
		AppendEntry(&b, e.At, e.Stream, piece)
		if got := bytes.TrimSuffix(b.Bytes(), []byte("\n")); !bytes.Equal(got, line) {
			t.Fatalf("%q was read and written as %q", line, got)
		}
	})
}

func BenchmarkPump(b *testing.B) {
	w, err := Create(Life{Folder: b.TempDir()})
	require.NoError(b, err)
	block := strings.Repeat(strings.Repeat("x", 80)+"\n", 1000)
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		require.NoError(b, w.Pump(Stdout, strings.NewReader(block)))
	}
}
