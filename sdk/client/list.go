package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"strconv"
)

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Total counts all matching rows, on this and other pages.
	Total int
	// NextPageToken requests the next page; empty on the last page.
	NextPageToken string
}

// ListOptions selects and orders the rows of a list. The zero value is the first page in the server's order.
type ListOptions struct {
	PageSize  int    // 0 means the server's default (20); the most is 200
	PageToken string // from the page before
	SortBy    string // "FIELD", "FIELD asc" or "FIELD desc", such as "created_at desc"
	Filter    []Predicate
}

// Predicate keeps the rows for which the comparison of Key with the value is true. Several predicates must all hold.
type Predicate struct {
	Op     string   `json:"op"`
	Key    string   `json:"key"`
	String string   `json:"string_value,omitempty"`
	In     *strList `json:"string_values,omitempty"`
}

type strList struct {
	Values []string `json:"values"`
}

// Equals keeps the rows whose field is value.
func Equals(key, value string) Predicate { return Predicate{Op: "EQUALS", Key: key, String: value} }

// Contains keeps the rows whose field contains value.
func Contains(key, value string) Predicate {
	return Predicate{Op: "IS_SUBSTRING", Key: key, String: value}
}

// OneOf keeps the rows whose field is one of values.
func OneOf(key string, values ...string) Predicate {
	return Predicate{Op: "IN", Key: key, In: &strList{Values: values}}
}

func (o ListOptions) query() (url.Values, error) {
	q := url.Values{}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	if o.PageSize != 0 {
		set("page_size", strconv.Itoa(o.PageSize))
	}
	set("page_token", o.PageToken)
	set("sort_by", o.SortBy)
	if len(o.Filter) > 0 {
		f, err := json.Marshal(map[string]any{"predicates": o.Filter})
		if err != nil {
			return nil, fmt.Errorf("filter: %w", err)
		}
		// Servers of KFP v1 unescape a filter once more after the usual decoding, so that a bare '%' would be refused.
		set("filter", url.QueryEscape(string(f)))
	}
	return q, nil
}

// each walks all pages of a list.
func each[T any](ctx context.Context, o ListOptions, page func(context.Context, ListOptions) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			p, err := page(ctx, o)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextPageToken == "" {
				return
			}
			o.PageToken = p.NextPageToken
		}
	}
}

// first gives the only row with that name, or a NotFound error.
func first[T any](p Page[T], err error, kind, name string) (*T, error) {
	switch {
	case err != nil:
		return nil, err
	case len(p.Items) == 0:
		return nil, &Error{Status: 404, Code: CodeNotFound, Message: fmt.Sprintf("there is no %s named %q", kind, name)}
	}
	return &p.Items[0], nil
}
