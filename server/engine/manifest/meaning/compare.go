package meaning

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Pair is a step of one workflow and what the other has in its place. One of them is missing where there is nothing like it.
type Pair struct{ A, B *Step }

// Differ pairs the steps that only one of two workflows runs, and says whether there are any: by their names, else by what
// they have in common. In the bodies of pairs the steps before stand by name, so that a change shows in the step that has it
// and not in all that come after it.
func Differ(a, b []Step) []Pair {
	called := map[string]string{}
	left, right := without(a, b, called), without(b, a, called)
	alike := []func(a, b Step) bool{
		func(a, b Step) bool { return a.Path == b.Path },
		func(a, b Step) bool { return path.Base(a.Path) == path.Base(b.Path) },
		func(a, b Step) bool { return anonymous(a.Body) == anonymous(b.Body) },
		func(a, b Step) bool { return near(a.Body, b.Body) },
	}
	var pairs []Pair
	for _, same := range alike {
		left = slices.DeleteFunc(left, func(l Step) bool {
			i := slices.IndexFunc(right, func(r Step) bool { return same(l, r) })
			if i < 0 {
				return false
			}
			r := right[i]
			pairs, right = append(pairs, Pair{&l, &r}), slices.Delete(right, i, i+1)
			called[l.Mark], called[r.Mark] = l.Path, l.Path
			return true
		})
	}
	for _, l := range left {
		pairs, called[l.Mark] = append(pairs, Pair{A: &l}), l.Path
	}
	for _, r := range right {
		pairs, called[r.Mark] = append(pairs, Pair{B: &r}), r.Path
	}
	for _, p := range pairs {
		for _, s := range []*Step{p.A, p.B} {
			if s != nil {
				s.Body = named(s.Body, called)
			}
		}
	}
	return pairs
}

// without are the steps of a that b has not, or not as often. It notes the names of those that both have.
func without(a, b []Step, called map[string]string) []Step {
	bag := Bag(b)
	var left []Step
	for _, s := range a {
		if bag[s.Body]--; bag[s.Body] < 0 {
			left = append(left, s)
		} else if called[s.Mark] == "" {
			called[s.Mark] = s.Path
		}
	}
	return left
}

// named puts the names of steps in the place of their marks.
func named(body string, called map[string]string) string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return body
	}
	marks := make([]string, 0, 2*len(called))
	for mark, name := range called {
		marks = append(marks, mark, name)
	}
	r := strings.NewReplacer(marks...)
	visitTexts(v, r.Replace)
	if m, ok := v.(map[string]any); ok {
		if before, ok := m["before"].([]any); ok {
			slices.SortFunc(before, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
	}
	return encode(v)
}

// mark is what stands for a step in the bodies of others.
var mark = regexp.MustCompile(`\b[0-9a-f]{12}\b`)

// anonymous is a body without the marks of other steps.
func anonymous(body string) string { return mark.ReplaceAllString(body, "?") }

// near says whether two bodies have most lines in common.
func near(a, b string) bool {
	left, right := strings.Split(anonymous(a), "\n"), strings.Split(anonymous(b), "\n")
	count := map[string]int{}
	for _, line := range left {
		count[line]++
	}
	common := 0
	for _, line := range right {
		if count[line]--; count[line] >= 0 {
			common++
		}
	}
	return 4*common >= 3*max(len(left), len(right))
}
