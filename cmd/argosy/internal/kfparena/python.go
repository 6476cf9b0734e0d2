package kfparena

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-python/gpython/ast"
	"github.com/go-python/gpython/parser"
	"github.com/go-python/gpython/py"
)

// maxFile is the size of the largest file that is read. Files of this kind have some hundred lines.
const maxFile = 256 << 10

// Formatted texts, f"...", came to Python after the grammar of the parser. Their f is taken off before it reads the file, and
// their contents stand between these two characters, which have no meaning in Unicode.
const (
	formattedStart = '\uE0F0'
	formattedEnd   = '\uE0F1'
)

// parse reads a file. Line ends of Windows and a byte order mark do no harm.
func parse(name string, data []byte) (*ast.Module, error) {
	switch {
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s has %d KiB; a pipeline has at most %d", name, len(data)>>10, maxFile>>10)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, fmt.Errorf("%s is not UTF-8 text", name)
	case bytes.ContainsRune(data, formattedStart) || bytes.ContainsRune(data, formattedEnd):
		return nil, fmt.Errorf("%s holds a character of Unicode's private use area", name)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	source := markFormatted(string(data))
	module, err := parser.Parse(strings.NewReader(source+"\n"), name, py.ExecMode)
	if err != nil {
		return nil, &Fault{File: name, Line: lineOf(err), Message: "this is not the Python of version 3 that Argosy reads: " + reason(err)}
	}
	m, ok := module.(*ast.Module)
	if !ok {
		return nil, &Fault{File: name, Line: 1, Message: "this is not a Python module"}
	}
	return m, nil
}

// parseExpression reads what stands between the braces of a formatted text.
func parseExpression(source string) (ast.Expr, error) {
	module, err := parser.Parse(strings.NewReader("("+source+")\n"), "", py.EvalMode)
	if err != nil {
		return nil, errors.New(reason(err))
	}
	e, ok := module.(*ast.Expression)
	if !ok {
		return nil, errors.New("it is not an expression")
	}
	return e.Body, nil
}

func lineOf(err error) int {
	if e := (*py.Exception)(nil); errors.As(err, &e) {
		if n, ok := e.Dict["lineno"].(py.Int); ok {
			return int(n)
		}
	}
	return 1
}

func reason(err error) string {
	e := (*py.Exception)(nil)
	if !errors.As(err, &e) {
		return err.Error()
	}
	if args, ok := e.Args.(py.Tuple); ok && len(args) > 0 {
		if text, ok := args[0].(py.String); ok {
			return string(text)
		}
	}
	return "invalid syntax"
}

// markFormatted takes the f off formatted texts and marks their contents. It knows comments and texts, and nothing else of Python.
func markFormatted(source string) string {
	var out strings.Builder
	word := 0 // where the letters before this place begin
	for i := 0; i < len(source); {
		switch c := source[i]; {
		case c == '#':
			end := strings.IndexByte(source[i:], '\n')
			if end < 0 {
				end = len(source) - i
			}
			out.WriteString(source[word : i+end])
			i += end
			word = i
		case c == '"' || c == '\'':
			end, quote := endOfText(source, i)
			prefix := strings.ToLower(source[word:i])
			if kind, formatted := strings.CutSuffix(strings.Replace(prefix, "fr", "rf", 1), "f"); formatted && (kind == "" || kind == "r") && end >= 0 {
				out.WriteString(kind)
				out.WriteString(quote)
				out.WriteRune(formattedStart)
				out.WriteString(source[i+len(quote) : end-len(quote)])
				out.WriteRune(formattedEnd)
				out.WriteString(quote)
			} else {
				if end < 0 {
					end = len(source)
				}
				out.WriteString(source[word:end])
			}
			i = end
			word = i
		case c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf:
			i++
		default:
			i++
			out.WriteString(source[word:i])
			word = i
		}
	}
	out.WriteString(source[word:])
	return out.String()
}

// endOfText finds the end of the text that begins with the quote at i, and what it is quoted with. It is -1 for a text without an end.
func endOfText(source string, i int) (end int, quote string) {
	quote = source[i : i+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(source[i:], long) {
		quote = long
	}
	for j := i + len(quote); j < len(source); j++ {
		switch {
		case source[j] == '\\':
			j++
		case strings.HasPrefix(source[j:], quote):
			return j + len(quote), quote
		case source[j] == '\n' && len(quote) == 1:
			return -1, quote
		}
	}
	return -1, quote
}
