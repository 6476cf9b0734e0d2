package source

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// names gives out Go identifiers, each once.
type names struct{ taken map[string]bool }

// reserved are those that a program must not take: Go's own, and those that it uses.
var reserved = strings.Fields(`break case chan const continue default defer else fallthrough for func go goto if import interface map package range return
	select struct switch type var any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16
	uint32 uint64 uintptr true false iota nil append cap clear close complex copy delete imag len make max min new panic print println real recover main init
	compiler dsl train json time object p in`)

func newNames(taken []string) *names {
	n := &names{taken: map[string]bool{}}
	for _, name := range taken {
		n.taken[name] = true
	}
	return n
}

// variable makes a name such as bestModel of words such as best-model.
func (n *names) variable(text string) string {
	name := camel(text)
	if name == "" || !unicode.IsLetter(rune(name[0])) {
		name = "v" + name
	}
	if isInitialism(name) {
		return n.free(strings.ToLower(name))
	}
	return n.free(strings.ToLower(name[:1]) + name[1:])
}

// exported makes a name such as BestModel.
func (n *names) exported(text string) string { return n.free(exported(text)) }

func exported(text string) string {
	name := camel(text)
	if name == "" || !unicode.IsLetter(rune(name[0])) {
		name = "V" + name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func isInitialism(name string) bool { return name == strings.ToUpper(name) }

// camel joins words: letters and digits, others separate them.
func camel(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	for i, word := range words {
		if i > 0 {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

func (n *names) free(name string) string {
	candidate := name
	for i := 2; n.taken[candidate]; i++ {
		candidate = name + strconv.Itoa(i)
	}
	n.taken[candidate] = true
	return candidate
}

// kinds are the types of files; own are those that the program declares.
type kinds struct {
	names *names
	own   []string
}

var typeName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]*$`)

// goType is the K of dsl.File[K].
func (k *kinds) goType(kind graph.Type) string {
	name := string(kind)
	element, isList := strings.CutSuffix(name, "List")
	switch {
	case name == "Dataset" || name == "Model" || name == "Metrics" || name == "HTML":
		return "dsl." + name
	case name == "" || name == "Artifact" || !typeName.MatchString(name):
		return "any"
	case isList && element != "":
		return "[]" + k.goType(graph.Type(element))
	case slices.Contains(k.own, name):
		return name
	case k.names.taken[name]:
		return "any"
	}
	k.names.taken[name] = true
	k.own = append(k.own, name)
	return name
}
