package scrape

import (
	"bytes"
	"strconv"
)

// match is one value found behind a metric's name.
type match struct {
	value   float64
	unit    []byte // part of the line
	summary bool   // one number for all ranks
}

// match finds the rule's value in a line, the last where there are several. The rule's name is given as bytes.
func (r Rule) match(line, name []byte) (match, bool) {
	if r.Pattern == nil {
		return lastMatch(line, name)
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

// scaled is the value as the rule's format has it: 98.1% is 0.981.
func (r Rule) scaled(m match) match {
	if r.Format == Percentage && string(m.unit) == "%" {
		m.value /= 100
	}
	return m
}

// lastMatch finds the last `name = number` of a line.
func lastMatch(line, name []byte) (match, bool) {
	var found match
	var ok bool
	for from := 0; from < len(line); {
		at := bytes.Index(line[from:], name)
		if at < 0 {
			break
		}
		at += from
		from = at + 1
		if m, hit := matchAt(line, at, name); hit {
			found, ok = m, true
		}
	}
	return found, ok
}

// matchAt reads the value behind a name that stands at a place in a line.
func matchAt(line []byte, at int, name []byte) (match, bool) {
	if at > 0 && joinsName(line[at-1]) {
		return match{}, false // the tail of a longer name: val_loss is not loss
	}
	m, ok := valueAfter(line[at+len(name):])
	m.summary = ok && summary(line[:at], name)
	return m, ok
}

// summaryWords stand in front of a name, or begin it, where the number is one for all ranks, in the output of any rank.
var summaryWords = [][]byte{[]byte("total"), []byte("overall"), []byte("aggregate"), []byte("global")}

// summary tells whether a number is one for all ranks, as in "total images/sec: 3033.57".
func summary(before, name []byte) bool {
	first, _, more := bytes.Cut(name, []byte{' '})
	for len(before) > 0 && isSpace(before[len(before)-1]) {
		before = before[:len(before)-1]
	}
	for _, word := range summaryWords {
		if more && bytes.EqualFold(first, word) {
			return true
		}
		at := len(before) - len(word)
		if at >= 0 && bytes.EqualFold(before[at:], word) && (at == 0 || !joinsName(before[at-1])) {
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
	whole := integer(b[i:])
	i += whole
	f := fraction(b[i:])
	if whole == 0 && f <= 1 {
		return 0, 0
	}
	i += f
	i += exponent(b[i:])
	if goesOn(b[i:], whole == 1 && b[i-1] == '0') {
		return 0, 0
	}
	v, err := parseFloat(b[:i])
	if err != nil && v == 0 {
		return 0, 0
	}
	return v, i // an overflow is ±Inf, and treated as such
}

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseFloat is strconv.ParseFloat for numbers with thousands commas, and quicker for short decimals: their digits and the power
// are exact, and so the quotient is rounded once.
func parseFloat(b []byte) (float64, error) {
	whole, point := uint64(0), -1
	for i, c := range b {
		switch {
		case isDigit(c) && i < len(powers):
			whole = whole*10 + uint64(c-'0')
		case c == '.' && point < 0:
			point = i
		case c == ',':
		default:
			return strconv.ParseFloat(string(bytes.ReplaceAll(b, []byte{','}, nil)), 64)
		}
	}
	if point < 0 {
		return float64(whole), nil
	}
	return float64(whole) / powers[len(b)-point-1], nil
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
func unitAfter(b []byte) []byte {
	b = skipSpace(b)
	if len(b) > 0 && b[0] == '%' {
		return b[:1]
	}
	n := 0
	for n < len(b) && n < 64 && joinsName(b[n]) {
		n++
	}
	if rest := skipSpace(b[n:]); len(rest) > 0 && (rest[0] == '=' || rest[0] == ':') {
		return nil
	}
	for n > 0 && (b[n-1] == '.' || b[n-1] == '-' || b[n-1] == '/') {
		n--
	}
	return b[:n]
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

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
