// Package listing describes one page of a list: filters, order and position.
package listing

// Op compares a field with the values of a predicate; the numbers are those of the KFP v1 wire.
type Op int

// The operators of KFP v1 filters.
const (
	Equals             Op = 1
	NotEquals          Op = 2
	GreaterThan        Op = 3
	GreaterThanOrEqual Op = 5
	LessThan           Op = 6
	LessThanOrEqual    Op = 7
	In                 Op = 8
	Substring          Op = 9
)

// Predicate keeps the rows whose Key compares true; predicates are AND-ed.
// Values are string, int64 or time.Time; all operators but In take exactly one.
type Predicate struct {
	Key    string `json:"key"`
	Op     Op     `json:"op"`
	Values []any  `json:"values"`
}

// Query asks for one page. A zero SortBy means "created_at".
type Query struct {
	Size   int // 1..200
	SortBy string
	Desc   bool
	Filter []Predicate
	Start  *Cursor // nil: from the first row
}

// Cursor names the first row of a page by its sort value and its id (keyset paging, so a page costs O(page)).
type Cursor struct {
	Value any    `json:"value"`
	ID    string `json:"id"`
}

// Page is one page of rows; Next is nil on the last page. Total counts all matches.
type Page[T any] struct {
	Items []T
	Total int64
	Next  *Cursor
}
