package graph

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// A text that Texts forgets is one whose values the compiler does not pass on.
func TestTextsForgetsNone(t *testing.T) {
	t.Parallel()
	for _, n := range []Node{{Container: &Container{}, Pod: &Pod{}}, {If: &If{}}, {Each: &Each{}}, {Call: &Call{}}} {
		var want []string
		fill(reflect.ValueOf(&n).Elem(), &want)
		var got []string
		for _, text := range n.Texts() {
			if s, _ := text.Constant(); s != "" {
				got = append(got, s)
			}
		}
		require.NotEmpty(t, want)
		require.ElementsMatch(t, want, got)
	}
}

// fill puts a text of its own into every place for one, and one element into every list.
func fill(v reflect.Value, texts *[]string) {
	switch {
	case v.Type() == reflect.TypeFor[Text]():
		s := fmt.Sprint(len(*texts))
		*texts = append(*texts, s)
		v.Set(reflect.ValueOf(Text{{Text: s}}))
	case v.Type() == reflect.TypeFor[[]Node](): // those have texts of their own
	case v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct:
		if one := v.Interface(); v.IsNil() {
			switch one.(type) {
			case *Container, *Pod, *If, *Each, *Call: // of another kind of node
				return
			}
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), texts)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.String:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), texts)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), texts)
		}
	}
}
