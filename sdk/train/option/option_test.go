package option_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argosy-ml/argosy/sdk/train"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

var update = flag.Bool("update", false, "write the table in the guide")

// Every field of Spec and Role is in the table, and the table has no others.
func TestTableHasAllFields(t *testing.T) {
	t.Parallel()
	inTable := map[string]bool{"Command": true} // it stands behind the flags
	for i := range option.Table {
		o := &option.Table[i]
		if o.Field == "" {
			continue
		}
		var of any = train.Spec{}
		name := o.Field
		if o.Role {
			of, name = train.Task{}, "role "+o.Field
		}
		inTable[name] = true
		_, ok := option.FieldOf(reflect.ValueOf(of), o.Field)
		require.True(t, ok, "%T has no field %s", of, o.Field)
		require.False(t, o.Kinds != nil && o.Why == "", "%s: users of other kinds need a reason", o.Field)
	}
	for _, name := range fields(reflect.TypeFor[train.Spec](), "") {
		require.True(t, inTable[name], "%s is not in the table", name)
	}
	for _, name := range fields(reflect.TypeFor[train.Role](), "") {
		require.True(t, inTable["role "+name], "Role.%s is not in the table", name)
	}
	for _, name := range fields(reflect.TypeFor[option.Values](), "") {
		require.True(t, inTable[name], "Values.%s is not in the table: nothing sets it", name)
	}
}

// fields are the paths of a struct's fields; structs of the same package count by their own fields.
func fields(of reflect.Type, prefix string) (paths []string) {
	for f := range of.Fields() {
		if nested := f.Type.Kind() == reflect.Struct && !strings.HasPrefix(f.Type.String(), "dsl."); nested {
			paths = append(paths, fields(f.Type, prefix+f.Name+".")...)
		} else {
			paths = append(paths, prefix+f.Name)
		}
	}
	return paths
}

// The guide's table, in both languages, is this one.
func TestGuideHasTheTable(t *testing.T) {
	t.Parallel()
	table := regexp.MustCompile(`(?m)^(\| --- \| --- \| --- \| --- \|\n)((?:\| .--.*\n)+)`)
	for page, allBut := range map[string]string{"../../../docs/jobs.md": "all but %s", "../../../docs/zh/jobs.md": "除 %s 外都有"} {
		var rows strings.Builder
		for i := range option.Table {
			if o := &option.Table[i]; o.Submit != "" {
				unset := o.Unset
				if unset != "" {
					unset = "`" + unset + "`"
				}
				fmt.Fprintf(&rows, "| `--%s` | `%s` | %s | %s |\n", o.Submit, o.Field, unset, kindsOf(o, allBut))
			}
		}
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		if *update {
			text = table.ReplaceAll(text, []byte("${1}"+rows.String()))
			require.NoError(t, os.WriteFile(page, text, 0o644))
		}
		found := table.FindSubmatch(text)
		require.NotNil(t, found, page)
		require.Equal(t, rows.String(), string(found[2]), "%s: go test ./sdk/train/option -update writes it", page)
	}
}

// kindsOf lists the kinds that have an option, or those that lack it where they are one.
func kindsOf(o *option.Option, allBut string) string {
	all := append(slices.Clone(option.ByFlag("workers").Kinds), "job")
	lack := slices.DeleteFunc(all, o.Of)
	if len(lack) == 1 {
		return fmt.Sprintf(allBut, lack[0])
	}
	return strings.Join(o.Kinds, ", ")
}

// kubernetes are the rules that the forms repeat without Kubernetes' libraries.
var kubernetes = map[string]struct {
	form   func(string) error
	theirs func(string) bool
}{
	"object":   {reads(option.Object), func(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 }},
	"label":    {reads(option.Label), func(s string) bool { return len(validation.IsValidLabelValue(s)) == 0 }},
	"name":     {option.ByFlag("label").Form.CheckKey, func(s string) bool { return len(validation.IsQualifiedName(s)) == 0 }},
	"variable": {option.ByFlag("env").Form.CheckKey, func(s string) bool { return len(validation.IsEnvVarName(s)) == 0 }},
	"role":     {option.RoleName, func(s string) bool { return len(validation.IsDNS1123Label(s)) == 0 }},
	"entry":    {func(s string) error { return reads(option.Entry)("a/" + s) }, func(s string) bool { return len(validation.IsConfigMapKey(s)) == 0 }},
	"quantity": {reads(option.Quantity), func(s string) bool { q, err := resource.ParseQuantity(s); return err == nil && q.Sign() >= 0 }},
}

func reads(f option.Form) func(string) error {
	return func(text string) error { _, err := f.Read(text); return err }
}

// The forms accept what Kubernetes accepts, and nothing else; but for quantities such as a dot, which Kubernetes takes for 0.
func FuzzFormsAreKubernetes(f *testing.F) {
	for _, s := range []string{
		"a", "A", "a.b", "a..b", "-a", "a-", "a/b", "a/b/c", "/a", "example.com/key", "Example.com/key", "a_b", ".", "..", "..a", "a b", "1", "1.5", ".5", "5.", "500m", "10Gi", "10G i", "1e3", "1e-3", "1E", "-1", "-1Gi", "+1", "1Ki", "1ki", "1K", "0x1", "é",
		strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254), "x/" + strings.Repeat("a", 64),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" { // not set
			return
		}
		for name, k := range kubernetes {
			if ours := k.form(s) == nil; name != "quantity" || ours {
				require.Equal(t, k.theirs(s), ours, "%s: %q", name, s)
			}
		}
	})
}
