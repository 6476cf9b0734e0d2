package submit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// binder adds flags that set values of the DSL.
type binder struct{ *pflag.FlagSet }

// value is a flag that hands each text it is given to a function.
type value struct {
	set  func(string) error
	name string // of the type, for help
}

func (v *value) Set(text string) error { return v.set(text) }
func (v *value) Type() string          { return v.name }
func (*value) String() string          { return "" }

func (b *binder) each(name, usage string, set func(string) error) *pflag.Flag {
	return b.VarPF(&value{set, "string"}, name, "", usage)
}

func (b *binder) text(v *dsl.Value[string], name, usage string) { b.textShort(v, name, "", usage) }

func (b *binder) textShort(v *dsl.Value[string], name, short, usage string) {
	b.VarP(&value{func(text string) error { *v = dsl.Lit(text); return nil }, "string"}, name, short, usage)
}

func (b *binder) whole(v *dsl.Value[int], name, usage string) {
	b.each(name, usage, func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("want a whole number")
		}
		*v = dsl.Lit(n)
		return nil
	})
}

func (b *binder) time(v *dsl.Value[time.Duration], name, usage string) {
	b.each(name, usage, func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("want a time such as 90s, 30m or 12h")
		}
		*v = dsl.Lit(d)
		return nil
	})
}

func (b *binder) truth(v *dsl.Value[bool], name, usage string) {
	b.switchOn(name, usage, func(on bool) { *v = dsl.Lit(on) })
}

// switchOn adds a flag that needs no value.
func (b *binder) switchOn(name, usage string, set func(bool)) {
	f := b.each(name, usage, func(text string) error {
		on, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return errors.New("want true or false")
		}
		set(on)
		return nil
	})
	f.NoOptDefVal = "true"
	f.Value.(*value).name = "bool"
}

func (b *binder) list(v *[]dsl.Value[string], name, short, usage string) {
	b.VarP(&value{func(text string) error { *v = append(*v, dsl.Lit(text)); return nil }, "string"}, name, short, usage)
}

func (b *binder) pairs(m *map[string]dsl.Value[string], name, short, usage string) {
	b.VarP(&value{func(text string) error {
		key, v, err := pair(text)
		put(m, key, v)
		return err
	}, "string"}, name, short, usage)
}

func (b *binder) wholes(m *map[string]dsl.Value[int], name, usage string) {
	b.each(name, usage, func(text string) error {
		key, v, err := pair(text)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("the count of %s is %q: want a whole number", key, v)
		}
		put(m, key, n)
		return nil
	})
}

// refuse answers to a flag with the reason why it is not there.
func (b *binder) refuse(name, why string) {
	f := b.each(name, "", func(string) error { return errors.New(why) })
	f.Hidden = true
}

func pair(text string) (key, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return "", "", errors.New("want key=value")
	}
	return key, value, nil
}

func put[T any](m *map[string]dsl.Value[T], key string, v T) {
	if *m == nil {
		*m = map[string]dsl.Value[T]{}
	}
	(*m)[key] = dsl.Lit(v)
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
