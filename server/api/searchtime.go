package api

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
)

// timeFields are the times of a run by the words that terms use.
var timeFields = map[string]string{"created": "created_at", "started": "started_at", "finished": "finished_at"}

var timeOperators = slices.Concat(orders, []operator{{"=", kfpv1.Predicate_EQUALS}})

// timePredicates reads a term such as created>2d. An age stays one in the filter, as page tokens compare filters; agedTime reads it.
func timePredicates(term string) ([]*kfpv1.Predicate, error) {
	name, op, value, ok := cutTerm(term, timeOperators)
	key := timeFields[name]
	if !ok || key == "" {
		return nil, apierr.New(apierr.Invalid, "time is %q; write created, started or finished, then %s or =, then a time", term, operatorTexts(timeOperators))
	}
	at := func(op kfpv1.Predicate_Op, t time.Time) *kfpv1.Predicate {
		return &kfpv1.Predicate{Op: op, Key: key, Value: &kfpv1.Predicate_TimestampValue{TimestampValue: timestamppb.New(t)}}
	}
	var found []*kfpv1.Predicate
	begins, isDay := dayOf(value)
	moment, err := time.Parse(time.RFC3339, value)
	switch {
	case isDay:
		found = ofDay(op, begins, at)
	case err == nil:
		found = append(found, at(op, moment))
	case age.MatchString(value) && op != kfpv1.Predicate_EQUALS:
		found = append(found, &kfpv1.Predicate{Op: op, Key: key, Value: &kfpv1.Predicate_StringValue{StringValue: "-" + value}})
	default:
		place := utf8.RuneCountInString(strings.TrimRight(term, " ")) - utf8.RuneCountInString(value) + 1
		if age.MatchString(value) {
			return nil, apierr.New(apierr.Invalid, "time is %q; character %d: an age such as %s is compared with >, >=, < or <=", term, place, value)
		}
		return nil, apierr.New(apierr.Invalid, "time is %q; character %d: %q is no time; write an age such as 30m, 12h, 2d or 1w, a day such as 2026-11-01, or a timestamp such as 2026-11-01T10:00:00Z", term, place, value)
	}
	if key != "created_at" { // a run that has not begun, or not ended, has the time 0
		found = append(found, at(kfpv1.Predicate_GREATER_THAN, time.Unix(0, 0)))
	}
	return found, nil
}

// dayOf reads a day, of UTC unless it names a zone, and gives its first moment.
func dayOf(value string) (begins time.Time, ok bool) {
	for _, layout := range []string{time.DateOnly, time.DateOnly + "Z07:00"} {
		if begins, err := time.Parse(layout, value); err == nil {
			return begins, true
		}
	}
	return time.Time{}, false
}

// ofDay compares with a whole day: after it, from it on, before it, up to its end, within it.
func ofDay(op kfpv1.Predicate_Op, begins time.Time, at func(kfpv1.Predicate_Op, time.Time) *kfpv1.Predicate) []*kfpv1.Predicate {
	next := begins.AddDate(0, 0, 1)
	from, before := at(kfpv1.Predicate_GREATER_THAN_EQUALS, begins), at(kfpv1.Predicate_LESS_THAN, next)
	switch op {
	case kfpv1.Predicate_GREATER_THAN:
		return []*kfpv1.Predicate{at(kfpv1.Predicate_GREATER_THAN_EQUALS, next)}
	case kfpv1.Predicate_GREATER_THAN_EQUALS:
		return []*kfpv1.Predicate{from}
	case kfpv1.Predicate_LESS_THAN:
		return []*kfpv1.Predicate{at(kfpv1.Predicate_LESS_THAN, begins)}
	case kfpv1.Predicate_LESS_THAN_EQUALS:
		return []*kfpv1.Predicate{before}
	}
	return []*kfpv1.Predicate{from, before}
}

// age is a whole number of minutes, hours, days or weeks.
var age = regexp.MustCompile(`^[0-9]{1,5}[mhdw]$`)

// agedTime reads what timePredicates writes of an age: how long before now.
func agedTime(key, value string, now time.Time) (t time.Time, ok bool) {
	text, ok := strings.CutPrefix(value, "-")
	if !ok || !age.MatchString(text) || key != "created_at" && key != "started_at" && key != "finished_at" {
		return time.Time{}, false
	}
	n, _ := strconv.Atoi(text[:len(text)-1]) // it matched
	switch text[len(text)-1] {
	case 'm':
		return now.Add(-time.Duration(n) * time.Minute), true
	case 'h':
		return now.Add(-time.Duration(n) * time.Hour), true
	case 'w':
		n *= 7
	}
	return now.AddDate(0, 0, -n), true
}
