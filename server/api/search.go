package api

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// searchRequest is what chooses runs beside a filter.
type searchRequest interface {
	GetFilter() string
	GetStatus() []string
	GetParameter() []string
	GetMetric() []string
	GetLabel() []string
	GetText() string
	GetTime() []string
}

// searched is a list request whose filter has in it all that was searched for, as page tokens keep filters.
type searched struct {
	listRequest
	filter string
}

func (s searched) GetFilter() string { return s.filter }

// searchFilter writes what is searched for into the request's filter.
func searchFilter(r searchRequest) (string, error) {
	text, err := unescape(r.GetFilter())
	if err != nil {
		return "", err
	}
	filter := &kfpv1.Filter{}
	if text != "" {
		if err := protojson.Unmarshal([]byte(text), filter); err != nil {
			return "", apierr.New(apierr.Invalid, "filter cannot be read: %s", jsonError(err))
		}
	}
	before := len(filter.GetPredicates())
	add := func(op kfpv1.Predicate_Op, key, value string) {
		filter.Predicates = append(filter.Predicates, &kfpv1.Predicate{Op: op, Key: key, Value: &kfpv1.Predicate_StringValue{StringValue: value}})
	}
	status, key, err := statusesOf(r.GetStatus())
	if err != nil {
		return "", err
	}
	if len(status) > 0 {
		filter.Predicates = append(filter.Predicates, &kfpv1.Predicate{
			Op: kfpv1.Predicate_IN, Key: key, Value: &kfpv1.Predicate_StringValues{StringValues: &kfpv1.StringValues{Values: status}},
		})
	}
	for _, term := range r.GetTime() {
		times, err := timePredicates(term)
		if err != nil {
			return "", err
		}
		filter.Predicates = append(filter.Predicates, times...)
	}
	for _, s := range []struct {
		what, prefix string
		terms        []string
		operators    []operator
	}{
		{"parameter", "parameter:", r.GetParameter(), parameterOperators},
		{"label", "label:", r.GetLabel(), textOperators},
		{"metric", "metric:", r.GetMetric(), numberOperators},
	} {
		for _, term := range s.terms {
			name, op, value, ok := cutTerm(term, s.operators)
			if !ok {
				return "", apierr.New(apierr.Invalid, "%s is %q; write NAME%sVALUE, where it can also be %s", s.what, term, s.operators[len(s.operators)-1].text, operatorTexts(s.operators))
			}
			if err := checkNumber(s.what, term, op, value); err != nil {
				return "", err
			}
			add(op, s.prefix+name, value)
		}
	}
	if r.GetText() != "" {
		add(kfpv1.Predicate_IS_SUBSTRING, "text", r.GetText())
	}
	if archived := archivedOf(r); archived != nil {
		state := kfpv1.Run_STORAGESTATE_AVAILABLE
		if *archived {
			state = kfpv1.Run_STORAGESTATE_ARCHIVED
		}
		add(kfpv1.Predicate_EQUALS, "storage_state", state.String())
	}
	if len(filter.GetPredicates()) == before {
		return text, nil
	}
	raw, err := filterText(filter)
	return string(raw), err
}

// accepted is what people call the status of a run that has none yet.
const accepted = "Accepted"

var knownStatuses = append([]string{accepted, run.Waiting}, run.Statuses...)

// statusesOf reads statuses in any case, and names the field to compare with them: a run that waits has a status of its own
// only as it is shown.
func statusesOf(asked []string) (found []string, key string, err error) {
	found, key = make([]string, len(asked)), "status"
	for i, text := range asked {
		at := slices.IndexFunc(knownStatuses, func(known string) bool { return strings.EqualFold(known, text) })
		switch {
		case at < 0:
			return nil, "", apierr.New(apierr.Invalid, "there is no status %q; a run can be %s", text, strings.Join(knownStatuses, ", "))
		case knownStatuses[at] != accepted:
			found[i] = knownStatuses[at]
		}
		if found[i] == run.Waiting {
			key = run.ShownStatus
		}
	}
	return found, key, nil
}

// filterText writes a filter without the spaces that protojson puts in at random: page tokens compare filters.
func filterText(filter *kfpv1.Filter) ([]byte, error) {
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(filter)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, raw)
	return compact.Bytes(), err
}

// archivedOf tells whether a request asks for the archived runs, or for the others.
func archivedOf(r searchRequest) *bool {
	switch r := r.(type) {
	case *argosyv1.ListRunsRequest:
		return r.Archived
	case *argosyv1.BulkRequest:
		return r.Archived
	case *argosyv1.GroupRunsRequest:
		return r.Archived
	}
	return nil
}

type operator struct {
	text string
	op   kfpv1.Predicate_Op
}

// checkNumber refuses a comparison with text where a number is needed. The error names the character of the term.
func checkNumber(what, term string, op kfpv1.Predicate_Op, value string) error {
	if what != "metric" && !slices.ContainsFunc(orders, func(o operator) bool { return o.op == op }) {
		return nil
	}
	if number, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(number) && !math.IsInf(number, 0) {
		return nil
	}
	at := utf8.RuneCountInString(strings.TrimRight(term, " ")) - utf8.RuneCountInString(value) + 1
	if value == "" {
		return apierr.New(apierr.Invalid, "%s is %q; character %d: a number is missing, such as %s0.5", what, term, at, term)
	}
	return apierr.New(apierr.Invalid, "%s is %q; character %d: %q is not a number", what, term, at, value)
}

// Operators of terms; one that is a part of another comes after it.
var (
	textOperators = []operator{
		{"!=", kfpv1.Predicate_NOT_EQUALS}, {"~", kfpv1.Predicate_IS_SUBSTRING}, {"=", kfpv1.Predicate_EQUALS},
	}
	orders = []operator{
		{">=", kfpv1.Predicate_GREATER_THAN_EQUALS},
		{"<=", kfpv1.Predicate_LESS_THAN_EQUALS},
		{">", kfpv1.Predicate_GREATER_THAN},
		{"<", kfpv1.Predicate_LESS_THAN},
	}
	parameterOperators = slices.Concat(orders, textOperators)
	numberOperators    = slices.Concat(orders, []operator{{"!=", kfpv1.Predicate_NOT_EQUALS}, {"=", kfpv1.Predicate_EQUALS}})
)

// cutTerm takes a term such as loss<=0.5 apart, at the operator that comes first.
func cutTerm(term string, operators []operator) (name string, op kfpv1.Predicate_Op, value string, ok bool) {
	at := len(term)
	for _, o := range operators {
		if i := strings.Index(term, o.text); i >= 0 && i < at {
			at, op, name, value = i, o.op, strings.TrimSpace(term[:i]), term[i+len(o.text):]
		}
	}
	return name, op, strings.TrimSpace(value), at < len(term) && name != ""
}

func operatorTexts(operators []operator) string {
	var texts []string
	for _, o := range operators[:len(operators)-1] {
		texts = append(texts, o.text)
	}
	return strings.Join(texts, ", ")
}
