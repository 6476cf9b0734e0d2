package compiler

import (
	"fmt"
	"strings"
	"unicode"
)

// How texts are written in YAML, so that readers of YAML 1.1 and 1.2 see the same text.

// block says whether a text is written as a block of lines.
func block(s string) bool {
	if !strings.Contains(s, "\n") || strings.ContainsAny(s[:1], " \t\n") {
		return false // white space at the beginning would count as indentation
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !printable(r) {
			return false
		}
	}
	return true
}

func printable(r rune) bool {
	return r >= ' ' && r < 0x7f || r > 0xa0 && r != 0xfeff && r != unicode.ReplacementChar && unicode.IsPrint(r)
}

// appendLine appends a text in one line, in quotes where it needs them.
func appendLine(out []byte, s string) []byte {
	quotes := byte(0)
	if s == "" || !plain(s) {
		quotes = '\''
	}
	if s == "" || other(s) {
		quotes = '"'
	}
	for _, r := range s {
		if !printable(r) {
			quotes = '"'
			break
		}
	}
	switch quotes {
	case '\'':
		out = append(out, '\'')
		for i := range len(s) {
			if s[i] == '\'' {
				out = append(out, '\'')
			}
			out = append(out, s[i])
		}
		return append(out, '\'')
	case '"':
		return appendQuoted(out, s)
	}
	return append(out, s...)
}

// plain says whether the characters of a text allow it to stand without quotes.
func plain(s string) bool {
	switch s[0] {
	case ' ', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '-':
		if len(s) == 1 || s[1] == ' ' {
			return false
		}
	}
	return s[len(s)-1] != ' ' && s[len(s)-1] != ':' && !strings.Contains(s, ": ") && !strings.Contains(s, " #") &&
		!strings.HasPrefix(s, "---") && !strings.HasPrefix(s, "...")
}

// words are those that a reader could take for something else than text.
var words = map[string]bool{
	"~": true, "null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
	"<<": true, "=": true, ".inf": true, ".nan": true, "+.inf": true, "-.inf": true,
}

// other says whether a reader could take the text for something else: a number, a time, true, null.
func other(s string) bool {
	if len(s) <= 5 && words[strings.ToLower(s)] {
		return true
	}
	if c := s[0]; c < '0' || c > '9' {
		if c != '-' && c != '+' && c != '.' {
			return false
		}
	}
	digit := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', strings.IndexByte("xXoO_+-.:tTzZ ", c) >= 0:
		default:
			return false
		}
	}
	return digit && (strings.Count(s, ".") < 2 || strings.Contains(s, ":")) // not 0.1.0
}

// appendQuoted writes a text between double quotes. What YAML's readers may change is escaped.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r == '\r':
			out = append(out, `\r`...)
		case printable(r):
			out = append(out, string(r)...)
		case r < 0x100:
			out = fmt.Appendf(out, `\x%02x`, r)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = fmt.Appendf(out, `\U%08x`, r)
		}
	}
	return append(out, '"')
}
