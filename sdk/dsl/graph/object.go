package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Characters for private use stand around the number of a reference: one for those inside of a JSON string, one for those
// that are values themselves.
const (
	inString = "\ue0f0"
	asValue  = "\ue0f1"
)

// Object reads a text that is a JSON object when its references have values. Where they stand there are marks, for which
// Fill puts the values.
func (t Text) Object() (map[string]any, error) {
	var object map[string]any
	if err := t.decode(&object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("it is null")
	}
	return object, nil
}

// List reads a text that is a JSON list, with references in its strings only. Fill puts their values there.
func (t Text) List() ([]any, error) {
	var list []any
	if err := t.decode(&list); err != nil {
		return nil, err
	}
	if text, err := json.Marshal(list); err != nil || strings.Contains(string(text), asValue) {
		return nil, errors.New("a value is outside its strings")
	}
	if _, err := t.Fill(list, func(Ref) string { return "" }); err != nil {
		return nil, err
	}
	return list, nil
}

// decode reads a text with marks where its references stand.
func (t Text) decode(v any) error {
	var b strings.Builder
	quoted := false
	for i, p := range t {
		switch {
		case p.Ref != nil && quoted:
			b.WriteString(inString + strconv.Itoa(i) + inString)
		case p.Ref != nil:
			b.WriteString(`"` + asValue + strconv.Itoa(i) + asValue + `"`)
		default:
			quoted = endsInString(p.Text, quoted)
			b.WriteString(p.Text)
		}
	}
	dec := json.NewDecoder(strings.NewReader(b.String()))
	dec.UseNumber() // so that numbers keep their digits
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind it")
	}
	return nil
}

// endsInString says whether JSON that goes on so is in a string at its end.
func endsInString(s string, quoted bool) bool {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		}
	}
	return quoted
}

var mark = regexp.MustCompile(inString + `(\d+)` + inString + `|"` + asValue + `(\d+)` + asValue + `"`)

// Fill writes a JSON value in which there are marks of the text's Object, with the references as write says.
func (t Text) Fill(v any, write func(Ref) string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	var err error
	out := mark.ReplaceAllStringFunc(strings.TrimSuffix(b.String(), "\n"), func(m string) string {
		i, _ := strconv.Atoi(strings.Trim(m, inString+asValue+`"`)) // out of range: not written by this package
		if i >= len(t) || t[i].Ref == nil {
			err = fmt.Errorf("the text holds %q, which stands for a value", m)
			return m
		}
		return write(*t[i].Ref)
	})
	return out, err
}
