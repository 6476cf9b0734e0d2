package postgres

import (
	"strconv"
	"strings"
)

// text gives a statement that was written for SQLite in PostgreSQL's words: the parameters ? and ?2 are $1 and $2, and LIKE,
// which does not tell a from A there, is ILIKE. What is quoted and commented stays as it is.
func text(statement string) string {
	var b strings.Builder
	b.Grow(len(statement) + 16)
	last := 0 // the highest parameter so far; a bare ? is the next one
	for rest := statement; rest != ""; {
		n := plainLength(rest)
		switch {
		case n > 0:
			b.WriteString(insensitive(rest[:n]))
		case rest[0] == '?':
			n = 1
			for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
				n++
			}
			number, err := strconv.Atoi(rest[1:n])
			if err != nil { // there is none
				number = last + 1
			}
			last = max(last, number)
			b.WriteString("$" + strconv.Itoa(number))
		default:
			n = quotedLength(rest)
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return b.String()
}

// plainLength is how much of a statement comes before the next parameter, quotation or comment.
func plainLength(s string) int {
	for i := range len(s) {
		switch s[i] {
		case '?', '\'', '"':
			return i
		case '-', '/':
			if strings.HasPrefix(s[i:], "--") || strings.HasPrefix(s[i:], "/*") {
				return i
			}
		}
	}
	return len(s)
}

// quotedLength is the length of the quotation or comment that a statement begins with. A doubled quote ends one and begins
// the next, which comes to the same.
func quotedLength(s string) int {
	open, end := 1, s[:1]
	switch s[0] {
	case '-':
		open, end = 2, "\n"
	case '/':
		open, end = 2, "*/"
	}
	i := strings.Index(s[open:], end)
	if i < 0 {
		return len(s)
	}
	return open + i + len(end)
}

func insensitive(s string) string { return strings.ReplaceAll(s, " LIKE ", " ILIKE ") }
