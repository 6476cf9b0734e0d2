package password_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/password"
)

func TestAdmits(t *testing.T) {
	t.Parallel()
	const p = password.Password("correct:horse battery")
	basic := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for header, want := range map[string]bool{
		"Bearer correct:horse battery":                true,
		"bearer correct:horse battery":                true,
		"Basic " + basic("me:correct:horse battery"):  true,
		"Basic " + basic(":correct:horse battery"):    true,
		"Basic " + basic("correct:horse battery"):     false, // the name is correct, and the rest is not all
		"Basic " + basic("me:correct:horse battery "): false,
		"Basic " + basic("me"):                        false,
		"Basic ?":                                     false,
		"Bearer":                                      false,
		"Bearer ":                                     false,
		"Digest correct:horse battery":                false,
		"correct:horse battery":                       false,
		"":                                            false,
	} {
		require.Equal(t, want, p.Admits(header), header)
	}
	require.True(t, password.Password("").Admits(""))
}
