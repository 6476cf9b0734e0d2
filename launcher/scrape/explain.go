package scrape

import (
	"bytes"
	"fmt"
)

// Seen is what a rule made of a line that it matches, or nearly does.
type Seen struct {
	Rule Rule
	// Line is the number of the line in the log, from 1. A rank's line that others interrupt is where it ends.
	Line int
	Rank int
	// Text is what the rank printed, without its tag.
	Text string
	// Value and Unit are what was found. They are empty where there is a Miss.
	Value float64
	Unit  string
	// Summary says that the number is one for all ranks.
	Summary bool
	// Miss is why the line does not match; empty where it does.
	Miss string
}

// Explain has f called for each line that a rule matches, and for each that has the rule's name and does not match.
func Explain(f func(Seen)) Option {
	return func(s *Scanner) { s.explain = f }
}

// told tells of a line that a rule did or did not match.
func (s *Scanner) told(r Rule, rank int, line []byte, m match, ok bool) {
	seen := Seen{Rule: r, Line: s.split.lines + 1, Rank: rank, Value: m.value, Unit: string(m.unit), Summary: m.summary}
	if !ok {
		if seen.Miss = r.miss(line); seen.Miss == "" {
			return
		}
	}
	seen.Text = string(line)
	s.explain(seen)
}

// miss says why a line that has the rule's name does not match; empty for lines without it.
func (r Rule) miss(line []byte) string {
	if r.Pattern != nil {
		return r.patternMiss(line)
	}
	why := ""
	for from := 0; from < len(line); {
		at := indexFold(line[from:], r.Name)
		if at < 0 {
			break
		}
		at += from
		from = at + 1
		end := at + len(r.Name)
		switch written := line[at:end]; {
		case at > 0 && joinsName(line[at-1]):
			if why == "" {
				why = fmt.Sprintf("%q is a longer name: it takes a rule of its own", wordAround(line, at, end))
			}
		case string(written) != r.Name:
			why = fmt.Sprintf("it is written %q here: rules are case-sensitive", written)
		default:
			why = behind(line[end:])
		}
	}
	return why
}

// behind explains why the text after a name is not a value.
func behind(rest []byte) string {
	b := skipSpace(skipQuote(rest))
	if len(rest) > 0 && joinsName(rest[0]) {
		return fmt.Sprintf("the name goes on: %q", clip(rest))
	}
	if len(b) == 0 {
		return "nothing stands behind the name: print = or : and a number there"
	}
	if b[0] != '=' && b[0] != ':' {
		return fmt.Sprintf("neither = nor : stands behind the name, but %q", clip(b))
	}
	b = skipQuote(skipSpace(b[1:]))
	switch {
	case len(b) == 0:
		return "no number follows"
	case isDigit(b[0]) || b[0] == '+' || b[0] == '-' || b[0] == '.':
		return fmt.Sprintf("%q is not a plain number", clip(b))
	}
	return fmt.Sprintf("%q is not a number", clip(b))
}

// patternMiss says why a regular expression found no number in a line where it, or the rule's name, stands.
func (r Rule) patternMiss(line []byte) string {
	found := r.Pattern.FindSubmatch(line)
	switch {
	case found == nil && indexFold(line, r.Name) >= 0:
		return "the name stands here, but the regular expression does not match"
	case found == nil:
		return ""
	case len(found) > 1 && found[1] == nil:
		return "the regular expression matches, but its first group has no part in it"
	}
	return fmt.Sprintf("the regular expression matches, but %q is not a number", clip(found[min(1, len(found)-1)]))
}

// wordAround is the whole name that holds line[at:end].
func wordAround(line []byte, at, end int) []byte {
	for at > 0 && joinsName(line[at-1]) {
		at--
	}
	for end < len(line) && joinsName(line[end]) {
		end++
	}
	return line[at:end]
}

// indexFold finds text in a line whatever its case; only letters of ASCII have one here.
func indexFold(line []byte, text string) int {
	for at := 0; at+len(text) <= len(line); at++ {
		if bytes.EqualFold(line[at:at+len(text)], []byte(text)) {
			return at
		}
	}
	return -1
}

// clip is the beginning of a text, enough to recognize it.
func clip(b []byte) []byte {
	if at := bytes.IndexAny(b, " \t,"); at > 0 {
		b = b[:at]
	}
	return b[:min(len(b), 32)]
}
