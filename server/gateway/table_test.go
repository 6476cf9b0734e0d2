package gateway_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// TestTable checks docs/api.md: every method of the wire is in it with its path, and every test that it names exists.
func TestTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/api.md")
	require.NoError(t, err)
	table := string(text)
	methods := 0
	check := func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				if strings.HasSuffix(string(m.Name()), "V1") {
					continue // the second name of one that is there
				}
				path := httpRule(t, m)
				name := string(service.Name())
				if file.Package() == "argosy.v1" {
					name = "argosy\\.v1\\." + name
				}
				row := regexp.MustCompile("(?m)^\\| `" + name + `\.` + string(m.Name()) + "`.*\\| `" + regexp.QuoteMeta(path) + "` \\| `Test.*$").FindString(table)
				require.NotEmpty(t, row, "docs/api.md has no row of %s with %s", m.FullName(), path)
				if file.Package() == "api" {
					require.Contains(t, row, "`TestBothMethodNames`", "every method of the wire is called by a client of its era")
				}
				methods++
			}
		}
		return true
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("api", check)
	require.Greater(t, methods, 35)
	protoregistry.GlobalFiles.RangeFilesByPackage("argosy.v1", check)
	require.Greater(t, methods, 40)

	var code strings.Builder
	for _, dir := range []string{"..", "../../test", "../../cmd"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) { // what a test of another package made and removed
				return nil
			}
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			code.Write(source)
			return err
		}))
	}
	for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(table, -1) {
		require.True(t, strings.Contains(code.String(), "func "+name[1]+"(t *testing.T)"), "docs/api.md names %s, which does not exist", name[1])
	}
}

func httpRule(t *testing.T, m protoreflect.MethodDescriptor) string {
	t.Helper()
	rule, ok := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
	require.True(t, ok && rule != nil, "%s has no path", m.FullName())
	switch {
	case rule.GetPost() != "":
		return "POST " + rule.GetPost()
	case rule.GetPut() != "":
		return "PUT " + rule.GetPut()
	case rule.GetDelete() != "":
		return "DELETE " + rule.GetDelete()
	}
	return "GET " + rule.GetGet()
}
