package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Argo has no name for what `INFORMER_WRITE_BACK=never` asks for: no write to its cache, and no pause of a second instead. It does so
// because it knows "", "true" and "false" alone. Another version may not.
func TestArgoKnowsNoOtherWriteBack(t *testing.T) {
	t.Parallel()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-workflows/v3").Output()
	require.NoError(t, err)
	file := filepath.Join(strings.TrimSpace(string(dir)), "workflow", "controller", "operator.go")
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)

	var known []string
	found := 0
	ast.Inspect(source, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok || !readsVariable(s.Tag, "INFORMER_WRITE_BACK") {
			return true
		}
		found++
		for _, c := range s.Body.List {
			values := c.(*ast.CaseClause).List
			require.NotEmpty(t, values, "a default is for never, too")
			for _, v := range values {
				known = append(known, v.(*ast.BasicLit).Value)
			}
		}
		return true
	})
	require.Equal(t, 1, found)
	require.Equal(t, []string{`""`, `"true"`, `"false"`}, known)
}

func readsVariable(e ast.Expr, name string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	arg, ok := call.Args[0].(*ast.BasicLit)
	return ok && arg.Value == `"`+name+`"`
}
