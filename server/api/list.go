package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
)

const (
	defaultPageSize = 20
	maxPageSize     = 200
	defaultSortBy   = "created_at"
	metricPrefix    = "metric:"
)

// listRequest is what every list takes.
type listRequest interface {
	GetPageSize() int32
	GetPageToken() string
	GetSortBy() string
	GetFilter() string
}

// token is a page token: everything that must stay the same from page to page, and the row to go on with.
// Clients see it as base64 of this JSON.
type token struct {
	SortBy string         `json:"sort_by"`
	Desc   bool           `json:"desc,omitempty"`
	Filter string         `json:"filter,omitempty"`
	Start  listing.Cursor `json:"start"`
}

// query reads a list request; next makes the token of the page after, "" when there is none.
func query(r listRequest) (q listing.Query, next func(*listing.Cursor) (string, error), err error) {
	if q.Size, err = pageSize(r.GetPageSize()); err != nil {
		return q, nil, err
	}
	var t token
	if r.GetPageToken() != "" {
		if t, err = decodeToken(r.GetPageToken()); err != nil {
			return q, nil, err
		}
		q.Start = &t.Start
	}
	if q.SortBy, q.Desc, err = sortBy(r.GetSortBy()); err != nil {
		return q, nil, err
	}
	filter, err := unescape(r.GetFilter())
	if err != nil {
		return q, nil, err
	}
	if q.Start != nil { // the token alone is enough, but what is said beside it must agree
		if r.GetSortBy() != "" && (q.SortBy != t.SortBy || q.Desc != t.Desc) || filter != "" && filter != t.Filter {
			return q, nil, apierr.New(apierr.Invalid, "page_token belongs to a list with another sort_by or filter; leave it out to start again")
		}
		q.SortBy, q.Desc, filter = t.SortBy, t.Desc, t.Filter
	}
	if q.Filter, err = predicates(filter); err != nil {
		return q, nil, err
	}
	return q, func(c *listing.Cursor) (string, error) {
		if c == nil {
			return "", nil
		}
		return encodeToken(token{SortBy: q.SortBy, Desc: q.Desc, Filter: filter, Start: *c})
	}, nil
}

// listPage answers a list request: its items in the form of the wire, how many match in all, and the token of the page after.
func listPage[T, W any](r listRequest, read func(listing.Query) (listing.Page[T], error), form func(T) W) (items []W, total int32, token string, err error) {
	q, next, err := query(r)
	if err != nil {
		return nil, 0, "", err
	}
	p, err := read(q)
	if err != nil {
		return nil, 0, "", err
	}
	for _, item := range p.Items {
		items = append(items, form(item))
	}
	token, err = next(p.Next)
	return items, int32(p.Total), token, err
}

func encodeToken(t token) (string, error) {
	raw, err := json.Marshal(t)
	return base64.StdEncoding.EncodeToString(raw), err
}

func pageSize(n int32) (int, error) {
	switch {
	case n < 0:
		return 0, apierr.New(apierr.Invalid, "page_size is %d; it cannot be negative", n)
	case n == 0:
		return defaultPageSize, nil
	}
	return int(min(n, maxPageSize)), nil
}

// sortBy reads "FIELD", "FIELD asc" or "FIELD desc" in any case; the names of metrics keep theirs.
func sortBy(s string) (field string, desc bool, err error) {
	if !utf8.ValidString(s) {
		return "", false, apierr.New(apierr.Invalid, "sort_by is not UTF-8 text")
	}
	words := strings.Fields(s)
	switch len(words) {
	case 0:
		return defaultSortBy, false, nil
	case 1:
	case 2:
		switch strings.ToLower(words[1]) {
		case "asc":
		case "desc":
			desc = true
		default:
			return "", false, apierr.New(apierr.Invalid, "sort_by %q: the order is asc or desc, not %q", s, words[1])
		}
	default:
		return "", false, apierr.New(apierr.Invalid, "sort_by %q has more than two words; write FIELD, FIELD asc or FIELD desc", s)
	}
	field = words[0]
	if len(field) >= len(metricPrefix) && strings.EqualFold(field[:len(metricPrefix)], metricPrefix) {
		return metricPrefix + field[len(metricPrefix):], desc, nil
	}
	return strings.ToLower(field), desc, nil
}

// unescape undoes the second URL encoding that KFP's own UI puts around a filter. JSON that comes plain is left alone.
func unescape(filter string) (string, error) {
	filter = strings.TrimSpace(filter)
	if filter == "" || strings.HasPrefix(filter, "{") {
		return filter, nil
	}
	plain, err := url.QueryUnescape(filter)
	if err != nil {
		return "", apierr.New(apierr.Invalid, "filter is neither JSON nor URL-encoded JSON: %v", err)
	}
	return strings.TrimSpace(plain), nil
}

func predicates(filter string) ([]listing.Predicate, error) {
	if filter == "" {
		return nil, nil
	}
	var f kfpv1.Filter
	if err := protojson.Unmarshal([]byte(filter), &f); err != nil {
		return nil, apierr.New(apierr.Invalid, "filter cannot be read: %s", jsonError(err))
	}
	var ps []listing.Predicate
	for _, p := range f.GetPredicates() {
		values, list, err := predicateValues(p)
		if err != nil {
			return nil, err
		}
		op := listing.Op(p.GetOp())
		_, text := p.GetValue().(*kfpv1.Predicate_StringValue)
		switch {
		case p.GetKey() == "":
			return nil, apierr.New(apierr.Invalid, "filter: a predicate has no key")
		case op == 0 || kfpv1.Predicate_Op_name[int32(op)] == "":
			return nil, apierr.New(apierr.Invalid, "filter on %q: op is missing or unknown", p.GetKey())
		case list != (op == listing.In):
			return nil, apierr.New(apierr.Invalid, "filter on %q: IN takes a list of values, and only IN does", p.GetKey())
		case op == listing.Substring && !text:
			return nil, apierr.New(apierr.Invalid, "filter on %q: IS_SUBSTRING takes a string_value", p.GetKey())
		}
		ps = append(ps, listing.Predicate{Key: p.GetKey(), Op: op, Values: values})
	}
	return ps, nil
}

func predicateValues(p *kfpv1.Predicate) (values []any, list bool, err error) {
	switch v := p.GetValue().(type) {
	case *kfpv1.Predicate_IntValue:
		return []any{int64(v.IntValue)}, false, nil
	case *kfpv1.Predicate_LongValue:
		return []any{v.LongValue}, false, nil
	case *kfpv1.Predicate_StringValue:
		if t, ok := agedTime(p.GetKey(), v.StringValue, time.Now()); ok {
			return []any{t}, false, nil
		}
		return []any{v.StringValue}, false, nil
	case *kfpv1.Predicate_TimestampValue:
		return []any{v.TimestampValue.AsTime()}, false, nil
	case *kfpv1.Predicate_IntValues:
		for _, n := range v.IntValues.GetValues() {
			values = append(values, int64(n))
		}
		return values, true, nil
	case *kfpv1.Predicate_LongValues:
		return anys(v.LongValues.GetValues()), true, nil
	case *kfpv1.Predicate_StringValues:
		return anys(v.StringValues.GetValues()), true, nil
	}
	return nil, false, apierr.New(apierr.Invalid, "filter on %q: the value is missing", p.GetKey())
}

func anys[T any](ts []T) []any {
	var as []any
	for _, t := range ts {
		as = append(as, t)
	}
	return as
}

func decodeToken(s string) (token, error) {
	bad := apierr.New(apierr.Invalid, "page_token is not one that this server gave")
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return token{}, bad.Because(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // times are integers of 19 digits, too long for a float64
	var t token
	if err := d.Decode(&t); err != nil || t.SortBy == "" {
		return token{}, bad.Because(err)
	}
	n, ok := t.Start.Value.(json.Number)
	switch {
	case !ok:
	case strings.HasPrefix(t.SortBy, metricPrefix):
		t.Start.Value, err = n.Float64()
	default:
		t.Start.Value, err = n.Int64()
	}
	if err != nil {
		return token{}, bad.Because(err)
	}
	return t, nil
}

// jsonError words an error of protojson without its package's name.
func jsonError(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}
