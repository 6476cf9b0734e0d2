package scrape

import (
	"bytes"
	"strconv"
	"strings"
)

// match is one value found behind a metric's name.
type match struct {
	value   float64
	unit    string
	summary bool // one number for all ranks
}

// match finds the rule's value in a line, the last where there are several.
func (r Rule) match(line []byte) (match, bool) {
	if r.Pattern == nil {
		return lastMatch(line, r.Name)
	}
	all := r.Pattern.FindAllSubmatchIndex(line, -1)
	if len(all) == 0 {
		return match{}, false
	}
	at := all[len(all)-1]
	from := at[0]
	if len(at) > 2 {
		from = at[2]
	}
	if from < 0 { // a group that took no part
		return match{}, false
	}
	b := skipSpace(line[from:])
	v, n := number(b)
	if n == 0 {
		return match{}, false
	}
	return match{value: v, unit: unitAfter(b[n:])}, true
}

// lastMatch finds the last `name = number` of a line.
func lastMatch(line []byte, name string) (match, bool) {
	var found match
	var ok bool
	for from := 0; from < len(line); {
		at := bytes.Index(line[from:], []byte(name))
		if at < 0 {
			break
		}
		at += from
		from = at + 1
		if at > 0 && joinsName(line[at-1]) {
			continue // the tail of a longer name: val_loss is not loss
		}
		if m, hit := valueAfter(line[at+len(name):]); hit {
			m.summary = summary(line[:at], name)
			found, ok = m, true
		}
	}
	return found, ok
}

// summaryWords stand in front of a name, or begin it, where the number is one for all ranks, in the output of any rank.
var summaryWords = []string{"total", "overall", "aggregate", "global"}

// summary tells whether a number is one for all ranks, as in "total images/sec: 3033.57".
func summary(before []byte, name string) bool {
	first, _, _ := strings.Cut(name, " ")
	before = bytes.TrimRight(before, " \t")
	for _, word := range summaryWords {
		if strings.EqualFold(first, word) && first != name {
			return true
		}
		at := len(before) - len(word)
		if at >= 0 && strings.EqualFold(string(before[at:]), word) && (at == 0 || !joinsName(before[at-1])) {
			return true
		}
	}
	return false
}

// joinsName tells whether a byte in front of a name makes it part of a longer one.
func joinsName(c byte) bool {
	return isWord(c) || c == '.' || c == '-' || c == '/' || c >= 0x80
}

// valueAfter reads `" : 12.5 unit`, what stands behind a metric's name.
func valueAfter(b []byte) (match, bool) {
	b = skipSpace(skipQuote(b))
	if len(b) == 0 || (b[0] != '=' && b[0] != ':') {
		return match{}, false
	}
	b = skipQuote(skipSpace(b[1:]))
	v, n := number(b)
	if n == 0 {
		return match{}, false
	}
	return match{value: v, unit: unitAfter(b[n:])}, true
}

// number reads the number that b begins with: a sign, thousands commas, a
// fraction, an exponent, NaN and Inf. It returns how many bytes it took, 0 when
// there is no number or when the digits are part of something else (a version,
// a date, a time of day, a hexadecimal number).
func number(b []byte) (value float64, n int) {
	if len(b) > 64 {
		b = b[:64] // no number is longer, and what follows only decides about its end
	}
	i := 0
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	if w := wordLen(b[i:]); w > 0 {
		return notFinite(b[:i+w], b[i:i+w])
	}
	digits := make([]byte, 0, len(b))
	digits = append(digits, b[:i]...)
	whole := integer(b[i:])
	for _, c := range b[i : i+whole] {
		if c != ',' {
			digits = append(digits, c)
		}
	}
	i += whole
	if f := fraction(b[i:]); whole+f > 0 && (whole > 0 || f > 1) {
		digits = append(digits, b[i:i+f]...)
		i += f
	} else {
		return 0, 0
	}
	if e := exponent(b[i:]); e > 0 {
		digits = append(digits, b[i:i+e]...)
		i += e
	}
	if goesOn(b[i:], whole == 1 && b[i-1] == '0') {
		return 0, 0
	}
	v, err := strconv.ParseFloat(string(digits), 64)
	if err != nil && v == 0 {
		return 0, 0
	}
	return v, i // an overflow is ±Inf, and treated as such
}

// integer measures digits with or without thousands commas.
func integer(b []byte) int {
	n := digitCount(b)
	if n == 0 || n > 3 {
		return n
	}
	end := n
	for end+3 < len(b) && b[end] == ',' && digitCount(b[end+1:]) == 3 {
		end += 4
	}
	if end+1 < len(b) && b[end] == ',' && isDigit(b[end+1]) {
		return n // a list such as 1,234,5: its first item is the value
	}
	return end
}

func fraction(b []byte) int {
	if len(b) == 0 || b[0] != '.' {
		return 0
	}
	return 1 + digitCount(b[1:])
}

func exponent(b []byte) int {
	if len(b) < 2 || (b[0] != 'e' && b[0] != 'E') {
		return 0
	}
	sign := 0
	if b[1] == '+' || b[1] == '-' {
		sign = 1
	}
	if d := digitCount(b[1+sign:]); d > 0 {
		return 1 + sign + d
	}
	return 0
}

// notFinite reads nan, inf and infinity in any case, with a sign.
func notFinite(signed, word []byte) (float64, int) {
	switch string(bytes.ToLower(word)) {
	case "nan", "inf", "infinity":
		v, err := strconv.ParseFloat(string(signed), 64)
		if err == nil {
			return v, len(signed)
		}
		if v, err = strconv.ParseFloat(string(word), 64); err == nil { // "-nan"
			return v, len(signed)
		}
	}
	return 0, 0
}

// goesOn tells whether the digits before b belong to something that is not a
// number: 1.2.3, 2020-09-15, 12:30, 0x1f.
func goesOn(b []byte, zero bool) bool {
	if len(b) == 0 {
		return false
	}
	if zero && (b[0] == 'x' || b[0] == 'X') {
		return true
	}
	return len(b) > 1 && isDigit(b[1]) && (b[0] == '.' || b[0] == '-' || b[0] == ':')
}

// unitAfter reads the word behind a number, unless `=` or `:` makes it the name
// of the next value, as in "Epoch: 0 Iteration: 1".
func unitAfter(b []byte) string {
	b = skipSpace(b)
	if len(b) > 0 && b[0] == '%' {
		return "%"
	}
	n := 0
	for n < len(b) && n < 64 && joinsName(b[n]) {
		n++
	}
	if rest := skipSpace(b[n:]); len(rest) > 0 && (rest[0] == '=' || rest[0] == ':') {
		return ""
	}
	return string(bytes.TrimRight(b[:n], ".-/"))
}

func skipSpace(b []byte) []byte { return bytes.TrimLeft(b, " \t") }

func skipQuote(b []byte) []byte {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		return b[1:]
	}
	return b
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWord(c byte) bool { return isDigit(c) || isLetter(c) || c == '_' }

func digitCount(b []byte) int {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n
}

func wordLen(b []byte) int {
	if len(b) == 0 || !isLetter(b[0]) {
		return 0
	}
	n := 0
	for n < len(b) && isWord(b[n]) {
		n++
	}
	return n
}
