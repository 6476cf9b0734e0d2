package compiler

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Steps are one template where they are equal but for what arguments can carry: words of the command, arguments, values of
// variables, and files of other steps. So a component that is added often stands in the workflow once. Only steps with the
// same name, but for a number at its end, are compared, since pods are called after the template.

// component is a template that steps share.
type component struct {
	stem     string  // the name of the steps, without a number
	places   []place // what the steps have not in common
	template string  // its name, once it is written
}

// sharer is a step that shares its template.
type sharer struct {
	*component
	from    *lowering
	node    graph.Node
	words   []graph.Text
	written []text // the words as they would stand in a template of the step's own
}

// place is where there is another word or file in each step.
type place struct {
	at     int    // in the words of the steps
	prefix string // of all the words, which stays in the template: --rate=
	name   string // of the input
	file   bool
}

// own is the reference to the input of a template that steps share.
func (p place) own() graph.Ref { return graph.Ref{Input: p.name, Index: true, File: p.file} }

func isOwn(r graph.Ref) bool { return r.Input != "" && r.Index }

// numbered is the number at the end of a name.
var numbered = regexp.MustCompile(`-?[0-9]+$`)

// list is the nodes of a pipeline, its exit or a sub-pipeline, and the lowering that they belong to.
type list struct {
	*lowering
	nodes []graph.Node
}

// share finds the steps that share a template.
func share(lists []list) error {
	byStem := map[string][]*sharer{}
	var stems []string
	for _, l := range lists {
		l.steps(l.nodes, func(n graph.Node) {
			stem := numbered.ReplaceAllString(n.Name, "")
			if byStem[stem] == nil {
				stems = append(stems, stem)
			}
			byStem[stem] = append(byStem[stem], &sharer{from: l.lowering, node: n, words: wordsOf(n.Container)})
		})
	}
	var e emitter // for all, since it grows
	for _, stem := range stems {
		if len(byStem[stem]) < 2 {
			continue
		}
		alike, err := grouped(byStem[stem], &e)
		if err != nil {
			return err
		}
		for _, members := range alike {
			if len(members) < 2 {
				continue
			}
			c := &component{stem: stem, places: differences(members)}
			for _, m := range members {
				m.component = c
				m.from.members[m.node.Name] = m
			}
		}
	}
	return nil
}

// grouped puts those together whose templates are equal.
func grouped(members []*sharer, e *emitter) ([][]*sharer, error) {
	groups := map[string]int{}
	var alike [][]*sharer
	var last *sharer
	var node graph.Node
	at := 0
	for _, m := range members {
		blank := m.blank()
		if last == nil || m.from != last.from || !reflect.DeepEqual(blank, node) { // else the template is the same
			body, err := m.body(blank, e)
			if err != nil {
				return nil, err
			}
			i, known := groups[string(body)]
			if !known {
				i = len(alike)
				groups[string(body)] = i
				alike = append(alike, nil)
			}
			last, node, at = m, blank, i
		}
		alike[at] = append(alike[at], m)
	}
	return alike, nil
}

// steps visits the steps that may share a template. Those that are collected from write to a place of their own.
func (l *lowering) steps(nodes []graph.Node, visit func(graph.Node)) {
	for _, n := range nodes {
		if n.Container != nil && !l.keeps(n) {
			visit(n)
		}
		l.steps(n.Children(), visit)
	}
}

// wordsOf returns what arguments can carry of a container. In containers of the same form the same word is at the same place.
func wordsOf(c *graph.Container) []graph.Text {
	texts := slices.Concat(c.Command, c.Args)
	for _, e := range c.Env {
		texts = append(texts, e.Value)
	}
	for _, f := range c.Files {
		texts = append(texts, f.From)
	}
	return texts
}

// with returns the step with other words.
func (m *sharer) with(words []graph.Text) graph.Node {
	n, c := m.node, *m.node.Container
	take := func(count int) []graph.Text {
		taken := words[:count]
		words = words[count:]
		return taken
	}
	c.Command, c.Args = take(len(c.Command)), take(len(c.Args))
	c.Env, c.Files = slices.Clone(c.Env), slices.Clone(c.Files)
	for i, text := range take(len(c.Env)) {
		c.Env[i].Value = text
	}
	for i, text := range take(len(c.Files)) {
		c.Files[i].From = text
	}
	n.Container = &c
	return n
}

// nothing stands where arguments may stand.
var nothing = graph.Text{{Text: "\x00"}}

// blank is the step without what is of it alone: its name, and with nothing where arguments may stand.
func (m *sharer) blank() graph.Node {
	blank := slices.Clone(m.words)
	m.written = make([]text, len(m.words))
	for i, t := range m.words {
		refs := t.Refs()
		isFile := len(refs) > 0 && refs[0].File
		if !m.isOpen(i) || !passable(t) {
			continue
		}
		if !isFile {
			blank[i], m.written[i] = nothing, m.from.renderWord(t, m.from.source)
			continue
		}
		r := place{name: "\x00" + strconv.Itoa(i), file: true}.own()
		blank[i], m.written[i] = graph.Text{{Ref: &r}}, text(m.from.input(refs[0]))
	}
	n := m.with(blank)
	return graph.Node{Kind: n.Kind, Container: n.Container, Pod: n.Pod}
}

// body is the template of a blank step.
func (m *sharer) body(blank graph.Node, e *emitter) ([]byte, error) {
	t, err := m.from.step("", blank)
	if err != nil {
		return nil, err
	}
	e.out = e.out[:0]
	e.value(reflect.ValueOf(t), 0, atTop)
	return e.out, nil
}

// isOpen says whether there is a word at a place, and not a secret's entry or a file from elsewhere.
func (m *sharer) isOpen(i int) bool {
	c := m.node.Container
	if i -= len(c.Command) + len(c.Args); i < 0 {
		return true
	}
	if i < len(c.Env) {
		return c.Env[i].FieldRef == "" && c.Env[i].Secret == nil && c.Env[i].ConfigMap == nil
	}
	return c.Files[i-len(c.Env)].Import == nil
}

// passable says whether Argo can carry a word in a parameter, or a file from task to task. It cannot carry braces, which
// it takes for variables; nor variables that only the pod has; and some characters it quotes as Go does, where JSON does not.
func passable(t graph.Text) bool {
	for i, p := range t {
		if p.Ref != nil {
			if p.Ref.Env != "" || p.Ref.Variable != "" || isFolder(*p.Ref) {
				return false
			}
			continue
		}
		for j, r := range p.Text {
			if r == '{' && hides(p.Text, j, i > 0, i+1 < len(t)) || !quotable(r) {
				return false
			}
		}
	}
	return true
}

func quotable(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return true
	}
	quoted := strconv.QuoteRune(r)
	return !strings.HasPrefix(quoted, `'\`) || strings.ContainsRune(`\nrtbfu'`, rune(quoted[2]))
}

var (
	flagWord  = regexp.MustCompile(`^--?([a-zA-Z][-_a-zA-Z0-9]*)$`)
	assigned  = regexp.MustCompile(`^-{0,2}([a-zA-Z][-_a-zA-Z0-9]*)=`)
	unnamable = regexp.MustCompile(`[^-_a-zA-Z0-9]`)
)

// differences are the places where the words of steps differ, each with a name for its input.
func differences(members []*sharer) []place {
	first := members[0]
	var places []place
	common := slices.Clone(first.words)
	for i := range first.words {
		if slices.ContainsFunc(members[1:], func(m *sharer) bool { return m.written[i] != first.written[i] }) {
			places = append(places, place{at: i, prefix: prefix(members, i)})
			common[i] = nil
		}
	}
	taken := map[string]bool{}
	for _, r := range first.from.references(first.with(common)) {
		taken[first.from.input(r)] = true
	}
	carried := map[string]string{} // the names of inputs by what is passed for them
	for i := range places {
		p := &places[i]
		var b strings.Builder
		for _, m := range members {
			b.WriteString(strconv.Quote(strings.TrimPrefix(string(m.written[p.at]), p.prefix)))
		}
		p.call(first.node.Container, common)
		if name, known := carried[b.String()]; known {
			p.name = name
			continue
		}
		p.name = free(p.name, taken)
		carried[b.String()] = p.name
	}
	return places
}

// prefix is what all words at a place begin with, such as --rate=.
func prefix(members []*sharer, i int) string {
	all := ""
	for k, m := range members {
		own := ""
		if len(m.words[i]) > 0 {
			own = assigned.FindString(m.words[i][0].Text)
		}
		if k > 0 && own != all {
			return ""
		}
		all = own
	}
	return all
}

// call names the input after the variable, the path of the file, the flag before the word or in it, or else by its number.
func (p *place) call(c *graph.Container, common []graph.Text) {
	i := p.at
	command, args, env := len(c.Command), len(c.Command)+len(c.Args), len(c.Command)+len(c.Args)+len(c.Env)
	before := ""
	if i > 0 && i != command {
		before, _ = common[i-1].Constant()
	}
	switch {
	case i >= env:
		p.name, p.file = unnamable.ReplaceAllString(strings.TrimLeft(path.Base(c.Files[i-env].Path), "0123456789-"), "-"), true
		if p.name == "" {
			p.name = fmt.Sprintf("file-%d", i-env+1)
		}
	case i >= args:
		p.name = unnamable.ReplaceAllString(c.Env[i-args].Name, "-")
	case p.prefix != "":
		p.name = assigned.FindStringSubmatch(p.prefix)[1]
	case flagWord.MatchString(before):
		p.name = flagWord.FindStringSubmatch(before)[1]
	case i < command:
		p.name = fmt.Sprintf("command-%d", i+1)
	default:
		p.name = fmt.Sprintf("arg-%d", i-command+1)
	}
}

// shared returns the step with its inputs where it differs from the others, and what they are for it.
func (m *sharer) shared() (graph.Node, map[graph.Ref]graph.Text) {
	common, values := slices.Clone(m.words), map[graph.Ref]graph.Text{}
	for _, p := range m.places {
		r := p.own()
		value := m.words[p.at]
		common[p.at] = graph.Text{{Ref: &r}}
		if p.prefix != "" {
			value = slices.Clone(value)
			value[0].Text = strings.TrimPrefix(value[0].Text, p.prefix)
			common[p.at] = graph.Text{{Text: p.prefix}, {Ref: &r}}
		}
		values[r] = value
	}
	n := m.with(common)
	n.Name = m.template
	return n, values
}

// run makes the task run the template that the step shares, which is written for the first of them.
func (m *sharer) run(t *task, where func(graph.Ref) source) ([]graph.Ref, error) {
	isFirst := m.template == ""
	if isFirst {
		m.template = m.from.unique(m.stem)
	}
	n, values := m.shared()
	if isFirst {
		if err := m.from.container(m.template, n); err != nil {
			return nil, err
		}
	}
	t.Template = m.template
	for _, r := range m.from.needs(n) {
		value, own := values[r]
		if !own {
			value = graph.Text{{Ref: &r}}
		}
		t.Arguments.pass(m.from.input(r), render(value, where), r.File)
	}
	return m.from.needs(m.node), nil
}
