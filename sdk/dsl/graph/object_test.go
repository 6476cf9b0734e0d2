package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObjectWithReferences(t *testing.T) {
	t.Parallel()
	n, s := Part{Ref: &Ref{Param: "n"}}, Part{Ref: &Ref{Param: "s"}}
	text := func(s string) Part { return Part{Text: s} }
	write := func(r Ref) string { return "{{" + r.Param + "}}" }
	for _, test := range []struct {
		text Text
		want string
	}{
		{Text{text(`{"a":1e21,"b":"\"` + "\u2028" + `<"}`)}, `{"a":1e21,"b":"\"\u2028<"}`},
		{Text{text(`{"a": `), n, text(`, "b": "x-`), s, text(`\\"}`)}, `{"a":{{n}},"b":"x-{{s}}\\"}`},
		{Text{text(`{"a": ["\"", `), s, text(`]}`)}, `{"a":["\"",{{s}}]}`},
	} {
		object, err := test.text.Object()
		require.NoError(t, err)
		got, err := test.text.Fill(object, write)
		require.NoError(t, err)
		require.Equal(t, test.want, got)
	}
	for _, wrong := range []Text{nil, {text("null")}, {text("[]")}, {n}, {text(`{"a":`), n}, {text(`{} {}`)}, {text(`{"`), n, text(`": 1, `)}} {
		_, err := wrong.Object()
		require.Error(t, err)
	}
	forged := Text{text(`{"a":"` + inString + `7` + inString + `"}`)}
	object, err := forged.Object()
	require.NoError(t, err)
	_, err = forged.Fill(object, write)
	require.Error(t, err)
}
