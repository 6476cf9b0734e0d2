package option

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Given are the texts of options as the launcher gets them, by flag.
type Given map[string][]string

// Text is the last text of an option, without blanks around it; what holds unless it is set, where there is none.
func (g Given) Text(flag string) string {
	text := ""
	if all := g[flag]; len(all) > 0 {
		text = strings.TrimSpace(all[len(all)-1])
	}
	o := ByFlag(flag)
	if text == "" || text == "0" && o.Form.least > 0 { // "0 slots" means: as many as is usual
		return o.Unset
	}
	return text
}

// Texts are those of an option that are not empty.
func (g Given) Texts(flag string) (texts []string) {
	for _, text := range g[flag] {
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Fault is what is wrong with an option.
func Fault(flag string, err error) error { return fmt.Errorf("--%s: %w", flag, err) }

// Read checks all texts for a job of a kind, with its title, and gives those that Values has. The faults are all that
// is wrong; the values of such options are not set.
func (g Given) Read(kind, title string) (v Values, faults []error) {
	seen := map[string]bool{}
	for i := range Table {
		o := &Table[i]
		if o.Flag == "" || seen[o.Flag] {
			continue
		}
		seen[o.Flag] = true
		var err error
		switch {
		case o.Role:
			faults = append(faults, g.readRoles(o)...)
		case o.Form.Keyed() || o.Form.Many:
			faults = append(faults, v.setAll(o, g.Texts(o.Flag))...)
		default:
			err = v.setOne(o, g.Text(o.Flag), kind, title)
		}
		if err != nil {
			faults = append(faults, Fault(o.Flag, err))
		}
	}
	return v, faults
}

// setOne sets an option of one text.
func (v *Values) setOne(o *Option, text, kind, title string) error {
	if o.Required && text == "" {
		return errRequired
	}
	text, err := o.Form.Read(text)
	if err == nil {
		err = o.Allow(kind, title, text)
	}
	if to, ok := FieldOf(reflect.ValueOf(v).Elem(), o.Field); err == nil && ok && text != "" {
		set(to, text)
	}
	return err
}

// setAll sets an option of several texts.
func (v *Values) setAll(o *Option, texts []string) (faults []error) {
	to, ok := FieldOf(reflect.ValueOf(v).Elem(), o.Field)
	if ok && to.Kind() == reflect.Map {
		to.Set(reflect.MakeMap(to.Type()))
	}
	for _, text := range texts {
		var key string
		var err error
		if o.Form.Keyed() {
			key, text, err = o.Form.ReadPair(text)
		} else {
			text, err = o.Form.Read(strings.TrimSpace(text))
		}
		if err != nil {
			faults = append(faults, Fault(o.Flag, err))
			continue
		}
		if !ok {
			continue
		}
		value := reflect.New(to.Type().Elem()).Elem()
		set(value, text)
		if o.Form.Keyed() {
			to.SetMapIndex(reflect.ValueOf(key), value)
		} else {
			to.Set(reflect.Append(to, value))
		}
	}
	return faults
}

// readRoles checks ROLE=VALUE.
func (g Given) readRoles(o *Option) (faults []error) {
	for _, text := range g.Texts(o.Flag) {
		role, value, ok := strings.Cut(text, "=")
		flag, err := o.Flag, RoleName(role)
		switch {
		case !ok:
			err = fmt.Errorf("%q has no value: write ROLE=VALUE", text)
		case err == nil && value != "":
			flag += "=" + role
			if o.Form.Keyed() {
				_, _, err = o.Form.ReadPair(value)
			} else {
				_, err = o.Form.Read(strings.TrimSpace(value))
			}
		}
		if err != nil {
			faults = append(faults, Fault(flag, err))
		}
	}
	return faults
}

// FieldOf finds a field of a struct by a path such as TensorBoard.LogDir.
func FieldOf(of reflect.Value, path string) (reflect.Value, bool) {
	for name := range strings.SplitSeq(path, ".") {
		if of.Kind() != reflect.Struct {
			return of, false
		}
		if of = of.FieldByName(name); !of.IsValid() {
			return of, false
		}
	}
	return of, true
}

// set sets a field to a text that has the option's form.
func set(to reflect.Value, text string) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch to.Interface().(type) {
	case time.Duration:
		d, _ := time.ParseDuration(text)
		to.SetInt(int64(d))
	case int:
		n, _ := strconv.Atoi(text)
		to.SetInt(int64(n))
	case bool:
		to.SetBool(text == "true")
	default:
		to.SetString(text)
	}
}
