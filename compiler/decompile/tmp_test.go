package decompile_test

import (
	"os"
	"testing"
	"strings"

	"github.com/stretchr/testify/require"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

func packageName(s string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' { return r }
		return '-'
	}, strings.ToLower(s)), "-")
	for strings.Contains(name, "--") { name = strings.ReplaceAll(name, "--", "-") }
	if name == "" { name = "pipeline" }
	return name + ".tar.gz"
}

func unpacked(t *testing.T, file string) []byte {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	text, err := pkgfile.Read(file, data)
	require.NoError(t, err)
	return text
}
