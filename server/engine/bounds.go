package engine

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Bounds of a manifest beside its size in bytes: time and memory go by the number of its values. Kubernetes takes objects of 1.5 MB, which
// hold far fewer.
const (
	maxValues   = 250_000   // keys and values, with YAML aliases written out
	maxLevels   = 100       // of mappings and lists in each other
	maxExpanded = 64 << 20  // bytes, with YAML aliases written out
	maxMarks    = 1_000_000 // signs that may separate values, wherever they are: the parser makes at most two values of each
)

// extent is how much a manifest holds.
type extent struct{ bytes, values, levels int }

// beyond is more than any manifest may hold.
var beyond = extent{maxExpanded + 1, maxValues + 1, maxLevels + 1}

// check refuses what is beyond the bounds; aliased says whether YAML aliases may have brought it there.
func (e extent) check(aliased bool) error {
	switch {
	case e.bytes > maxExpanded:
		return refuse("its YAML aliases expand to more than %d MiB", maxExpanded>>20)
	case e.values > maxValues && aliased:
		return refuse("its YAML aliases expand to more than %s keys and values", grouped(maxValues))
	case e.values > maxValues:
		return tooMany("keys and values", maxValues)
	case e.levels > maxLevels:
		return refuse("its mappings and lists lie in each other more than %d deep", maxLevels)
	}
	return nil
}

func tooMany(what string, most int) *apierr.Error {
	return refuse("it has more than %s %s; a Workflow with so many is too large for Kubernetes", grouped(most), what)
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// checkMarks refuses a text before it is parsed, when a parser could make too much of it.
func checkMarks(text []byte) error {
	marks := 0
	for _, c := range text {
		switch c {
		case '\n', ',', ':', '[', '{', '-', '?':
			marks++
		}
	}
	if marks > maxMarks {
		return tooMany("line ends, colons, commas and the like", maxMarks)
	}
	return nil
}

// extentOfJSON measures valid JSON.
func extentOfJSON(text []byte) extent {
	e, level, quoted := extent{bytes: len(text), values: 1}, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' || c == ':':
			e.values++
		case c == '{' || c == '[':
			e.values++
			level++
			e.levels = max(e.levels, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return e
}

// measure finds out how much a YAML node holds with its aliases written out, without writing them out.
type measure map[*yaml.Node]extent // of nodes that aliases stand for

func (m measure) of(n *yaml.Node) extent {
	if known, ok := m[n]; ok {
		return known
	}
	if n.Anchor != "" {
		m[n] = beyond // an alias inside its own anchor never ends
	}
	e := extent{bytes: len(n.Value) + 8, values: 1}
	if n.Kind == yaml.AliasNode {
		e = m.of(n.Alias)
	}
	for _, child := range n.Content {
		c := m.of(child)
		e.bytes, e.values, e.levels = e.bytes+c.bytes, e.values+c.values, max(e.levels, c.levels+1)
		if e.bytes > maxExpanded || e.values > maxValues {
			break
		}
	}
	if n.Anchor != "" {
		m[n] = e
	}
	return e
}
