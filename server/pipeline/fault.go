package pipeline

import (
	"strings"
	"unicode/utf8"
)

// Fault is one thing that is wrong in a manifest, and the lines around it.
type Fault struct {
	Line    int    `json:"line"` // from 1
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"` // as in spec.templates[train].container.image
	Message string `json:"message"`
	// Excerpt is the lines around the fault; the first of them is line ExcerptFrom.
	Excerpt     []string `json:"excerpt,omitempty"`
	ExcerptFrom int      `json:"excerpt_from,omitempty"`
}

// Linter finds at most so many faults of a manifest with their places. Faults without a place are left out.
type Linter func(manifest []byte, most int) []Fault

// Refused is the error of a manifest that cannot be used, with the faults whose places are known.
type Refused struct {
	error
	Faults []Fault
}

// Unwrap gives the error without the places.
func (r *Refused) Unwrap() error { return r.error }

// These bounds keep the answer to a refused manifest small. The search for faults runs Argo's validation again, so it skips manifests above
// maxLinted bytes.
const (
	maxLinted    = 1 << 20
	maxFaults    = 5
	linesAround  = 2
	excerptWidth = 160 // characters of a line
	beforeColumn = 60  // of them before the fault in a longer line
)

// refused adds the places of the faults to the error of a manifest.
func (s *Service) refused(manifest []byte, err error) error {
	if s.lint == nil || len(manifest) > maxLinted {
		return err
	}
	faults := s.lint(manifest, maxFaults)
	if len(faults) == 0 {
		return err
	}
	lines := strings.Split(strings.TrimRight(string(manifest), "\n"), "\n")
	for i := range faults {
		faults[i].quote(lines)
	}
	return &Refused{err, faults}
}

// quote takes the lines around the fault.
func (f *Fault) quote(lines []string) {
	if f.Line < 1 || f.Line > len(lines) {
		return
	}
	f.ExcerptFrom = max(1, f.Line-linesAround)
	for n := f.ExcerptFrom; n <= min(len(lines), f.Line+linesAround); n++ {
		column := 1
		if n == f.Line {
			column = f.Column
		}
		f.Excerpt = append(f.Excerpt, cut(strings.TrimSuffix(lines[n-1], "\r"), column))
	}
}

// cut shortens a line to what lies around a column.
func cut(line string, column int) string {
	if utf8.RuneCountInString(line) <= excerptWidth {
		return line
	}
	runes := []rune(line)
	from := 0
	if column > excerptWidth-beforeColumn {
		from = min(column-beforeColumn, len(runes)-excerptWidth)
	}
	text := string(runes[max(0, from):min(len(runes), max(0, from)+excerptWidth)])
	if from > 0 {
		text = "…" + text
	}
	if from+excerptWidth < len(runes) {
		text += "…"
	}
	return text
}
