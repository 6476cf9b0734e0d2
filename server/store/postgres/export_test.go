package postgres

// For tests.
var (
	OpenWith = open
	Text     = text
)
