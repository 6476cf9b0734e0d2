package submit

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
)

// ParseLine reads a whole command line of Arena, as a shell would: arena submit mpijob --name=... "mpirun ...". It gives the
// job and the words of its command.
func ParseLine(line string) (*Job, []string, error) {
	all, err := words(line)
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	for len(all) > 0 && (all[0] == "$" || all[0] == "#" || all[0] == "arena") { // a prompt that was copied along
		all = all[1:]
	}
	if len(all) < 2 || all[0] != "submit" {
		return nil, nil, exit.Usagef("this is not a command of Arena's that starts a job: want arena submit KIND FLAGS \"COMMAND\"")
	}
	kind, err := KindNamed(all[1])
	if err != nil {
		return nil, nil, err
	}
	j := New(kind)
	f := pflag.NewFlagSet(kind.Name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	j.Bind(f)
	if err := f.Parse(all[2:]); err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	return j, f.Args(), nil
}

// words splits a command line at blanks and takes quotes and backslashes off, as a shell does. Variables stay as they are: the
// shell of the job's pods knows them.
func words(line string) ([]string, error) {
	var all []string
	var word strings.Builder
	open := false // a word has begun, which may be empty
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if open {
				all = append(all, word.String())
				word.Reset()
				open = false
			}
			continue
		case '\\':
			if i++; i < len(line) && line[i] != '\n' { // at the end of a line it joins the next one
				word.WriteByte(line[i])
				open = true
			}
			continue
		case '\'', '"':
			end := closing(line[i+1:], c)
			if end < 0 {
				return nil, errors.New("a quote is opened and not closed: " + line[i:])
			}
			word.WriteString(unescaped(line[i+1:i+1+end], c))
			i += end + 1
		default:
			word.WriteByte(c)
		}
		open = true
	}
	if open {
		all = append(all, word.String())
	}
	return all, nil
}

// closing finds the quote that ends a quoted text, -1 where there is none.
func closing(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i
		case text[i] == '\\' && quote == '"':
			i++
		}
	}
	return -1
}

// unescaped takes the backslashes off that a shell takes off within double quotes.
func unescaped(text string, quote byte) string {
	if quote == '\'' {
		return text
	}
	return strings.NewReplacer("\\\n", "", `\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(text)
}
