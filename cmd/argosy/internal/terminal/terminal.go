// Package terminal tells a person what is going on: lines that stay, and on a real terminal one moving line below them.
package terminal

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// Color tells whether f is a terminal on which colour is wanted (https://no-color.org).
func Color(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}

// Is tells whether f is a terminal.
func Is(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// Screen is where lines go. Its methods may be called from several goroutines.
type Screen struct {
	mu    sync.Mutex
	out   io.Writer
	moves bool // out is a terminal
	color bool
	bar   *progressbar.ProgressBar
	quit  chan struct{}
	done  sync.WaitGroup
}

// New makes a screen of a file, usually os.Stderr.
func New(f *os.File) *Screen {
	return &Screen{out: f, moves: isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb", color: Color(f)}
}

// Plain makes a screen of a writer other than a terminal.
func Plain(w io.Writer) *Screen { return &Screen{out: w} }

// Writer gives the screen as a writer of whole lines, for logs and tables.
func (s *Screen) Writer() io.Writer { return (*writer)(s) }

// Logger writes logs from level on, without disturbing the moving line.
func (s *Screen) Logger(level slog.Leveler) *slog.Logger {
	return slog.New(tint.NewTextHandler(s.Writer(), &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: !s.color}))
}

// HasColor tells whether the screen shows colours.
func (s *Screen) HasColor() bool { return s.color }

// Printf writes a line; the newline is added.
func (s *Screen) Printf(format string, args ...any) {
	fmt.Fprintf(s.Writer(), format+"\n", args...)
}

// Steps of a list, marked by how they went.
const (
	Good    = "✓"
	Bad     = "✗"
	Pending = "·"
)

// Mark gives a mark in its colour.
func (s *Screen) Mark(mark string) string {
	seq := map[string]string{Good: "\x1b[32m", Bad: "\x1b[31m", Pending: "\x1b[36m"}[mark]
	if !s.color || seq == "" {
		return mark
	}
	return seq + mark + "\x1b[0m"
}

// Busy shows a moving line with text and the time since it began, until the function it gives is called or Busy is
// called again. Without a terminal it does nothing.
func (s *Screen) Busy(text string) (stop func()) {
	s.Idle()
	if !s.moves {
		return func() {}
	}
	s.mu.Lock()
	s.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(s.out), progressbar.OptionSpinnerType(14),
		progressbar.OptionSetDescription(text), progressbar.OptionSetElapsedTime(true), progressbar.OptionSetSpinnerChangeInterval(0),
		progressbar.OptionEnableColorCodes(s.color), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true))
	s.quit = make(chan struct{})
	quit := s.quit
	s.done.Go(func() { s.spin(quit) })
	s.mu.Unlock()
	return s.Idle
}

func (s *Screen) spin(quit <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			s.mu.Lock()
			if s.bar != nil {
				_ = s.bar.Add(1)
			}
			s.mu.Unlock()
		}
	}
}

// Idle takes the moving line away.
func (s *Screen) Idle() {
	s.mu.Lock()
	bar := s.bar
	s.bar = nil
	if bar != nil {
		close(s.quit)
		_ = bar.Clear()
	}
	s.mu.Unlock()
	s.done.Wait()
}

type writer Screen

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bar != nil {
		_ = w.bar.Clear()
	}
	return w.out.Write(p)
}
