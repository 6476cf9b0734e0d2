package submit

import (
	"errors"
	"reflect"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// binder adds flags that set fields of package train's structs.
type binder struct{ *pflag.FlagSet }

// value is a flag that hands each text it is given to a function.
type value struct {
	set  func(string) error
	name string // of the type, for help
}

func (v *value) Set(text string) error { return v.set(text) }
func (v *value) Type() string          { return v.name }
func (*value) String() string          { return "" }

func (b *binder) each(name, short, usage string, set func(string) error) *pflag.Flag {
	return b.VarPF(&value{set, "string"}, name, short, usage)
}

// option adds a flag for the field of an option in a struct, to which in points.
func (b *binder) option(o *option.Option, in any, name, usage string) {
	field, _ := option.FieldOf(reflect.ValueOf(in).Elem(), o.Field)
	short := ""
	if name == o.Submit {
		short = o.Short
	}
	f := b.each(name, short, usage, func(text string) error { return set(o, field, text) })
	if t := reflect.TypeFor[dsl.Value[bool]](); field.Type() == t {
		b.needsNoValue(f)
	}
}

func (*binder) needsNoValue(f *pflag.Flag) {
	f.NoOptDefVal = "true"
	f.Value.(*value).name = "bool"
}

// refuse answers to a flag with the reason why it is not there.
func (b *binder) refuse(name, why string) {
	f := b.each(name, "", "", func(string) error { return errors.New(why) })
	f.Hidden = true
}

// set sets a field of a Spec or a Role to a text, or adds it to what the field has.
func set(o *option.Option, field reflect.Value, text string) error {
	lit := func(text string, like reflect.Type) reflect.Value {
		return reflect.ValueOf(dsl.Lit(text)).Convert(like)
	}
	if o.Form.Keyed() {
		key, text, err := o.Form.ReadPair(text)
		if field.IsNil() {
			field.Set(reflect.MakeMap(field.Type()))
		}
		if err == nil {
			field.SetMapIndex(reflect.ValueOf(key), lit(text, field.Type().Elem()))
		}
		return err
	}
	text, err := o.Form.Read(text)
	if err != nil {
		return err
	}
	switch to := field.Addr().Interface().(type) {
	case *[]train.Metric:
		m, err := metric(text)
		*to = append(*to, m)
		return err
	case *[]train.Toleration:
		*to = append(*to, toleration(text))
	case *[]dsl.Value[string]:
		*to = append(*to, dsl.Lit(text))
	default:
		if field.Kind() == reflect.String {
			field.SetString(text)
		} else {
			field.Set(lit(text, field.Type()))
		}
	}
	return nil
}

func toleration(text string) train.Toleration {
	t, _ := option.ReadToleration(text) // the form is checked
	made := train.Toleration{Key: t.Key, Effect: t.Effect}
	if t.Key == "" {
		made.Key = "all"
	}
	if t.Operator == "Equal" {
		made.Value = dsl.Lit(t.Value)
	}
	return made
}

// metric reads a rule with the parser that reads what the job prints.
func metric(text string) (train.Metric, error) {
	if text == "" {
		return train.Metric{}, nil
	}
	rule, err := scrape.ParseRule(text)
	if err != nil {
		return train.Metric{}, err
	}
	m := train.Metric{Name: rule.Name}
	if rule.Format != scrape.Raw {
		m.Format = train.Format(rule.Format)
	}
	switch rule.Reduce {
	case scrape.Last:
	case scrape.Sum:
		m.Reduce = train.SumOverRanks
	default:
		m.Reduce = train.Reduce(rule.Reduce)
	}
	if rule.Pattern != nil {
		m.Pattern = rule.Pattern.String()
	}
	return m, nil
}

// dashed is the name of a flag as it is written now: sync-mode for syncMode, host-ipc for hostIPC.
func dashed(name string) string {
	var out strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && last != 0 && last != '-' && !unicode.IsUpper(last) {
			out.WriteByte('-')
		}
		out.WriteRune(unicode.ToLower(r))
		last = r
	}
	return out.String()
}
