package postgres_test

import (
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/store/postgres"
	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

// plainly opens a database without the store.
func plainly(t *testing.T, driver, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func lines(t *testing.T, db *sql.DB, question string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), question)
	require.NoError(t, err)
	defer rows.Close() //nolint:errcheck // Err tells
	var found []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		found = append(found, line)
	}
	require.NoError(t, rows.Err())
	slices.Sort(found)
	return found
}

// TestSameSchema: a migration of one database is mirrored in the other, or a query fails there and a backup cannot be moved.
func TestSameSchema(t *testing.T) {
	t.Parallel()
	address, file := pgtest.Database(t), filepath.Join(t.TempDir(), "argosy.db")
	open(t, address)
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	driver := "sqlite" // whichever of the two is built in
	if slices.Contains(sql.Drivers(), "sqlite3") {
		driver = "sqlite3"
	}
	light, heavy := plainly(t, driver, file), plainly(t, "pgx", address)

	types := strings.NewReplacer("INTEGER", "bigint", "BOOLEAN", "smallint", "BLOB", "bytea", "REAL", "double precision", "TEXT", "text C")
	want := lines(t, light, `SELECT m.name || '.' || c.name || ' ' || c.type || CASE WHEN c."notnull" OR c.pk THEN '' ELSE ' NULL' END || ' ' || COALESCE(c.dflt_value, '')
FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'goose_db_version'`)
	require.Contains(t, want, "runs.id TEXT ")
	for i := range want {
		want[i] = types.Replace(want[i])
	}
	require.Equal(t, want, lines(t, heavy, `SELECT table_name || '.' || column_name || ' ' || data_type || COALESCE(' ' || collation_name, '')
|| CASE is_nullable WHEN 'YES' THEN ' NULL' ELSE '' END || ' ' || COALESCE(REPLACE(column_default, '::text', ''), '')
FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'goose_db_version'`))

	require.Equal(t,
		lines(t, light, `SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'sqlite_%'`),
		lines(t, heavy, `SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%\_key' AND indexname NOT LIKE '%\_pkey'`))
	require.Equal(t,
		lines(t, light, `SELECT CAST(MAX(version_id) AS TEXT) FROM goose_db_version`),
		lines(t, heavy, `SELECT CAST(MAX(version_id) AS TEXT) FROM goose_db_version`))
	const references = `%s REFERENCES %s ON DELETE %s`
	require.Equal(t,
		lines(t, light, fmt.Sprintf(`SELECT DISTINCT PRINTF('`+references+`', m.name, f."table", f.on_delete) FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`, "%s", "%s", "%s")),
		lines(t, heavy, fmt.Sprintf(`SELECT DISTINCT FORMAT('`+references+`', conrelid::regclass, confrelid::regclass, CASE confdeltype WHEN 'c' THEN 'CASCADE' ELSE 'NO ACTION' END) FROM pg_constraint WHERE contype = 'f'`, "%s", "%s", "%s")))
}

// TestEveryQueryIsUnderstood prepares each query that sqlc made for SQLite, as not every one is asked by other tests here.
func TestEveryQueryIsUnderstood(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	open(t, address)
	db := plainly(t, "pgx", address)
	files, err := filepath.Glob("../sqlstore/internal/query/*.sql.go")
	require.NoError(t, err)
	var queries int
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			constant, ok := n.(*ast.ValueSpec)
			if !ok || len(constant.Values) != 1 {
				return true
			}
			literal, ok := constant.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			statement, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			queries++
			_, err = db.PrepareContext(t.Context(), postgres.Text(statement)) //nolint:sqlclosecheck // its connection ends
			require.NoError(t, err, statement)
			return true
		})
	}
	require.Greater(t, queries, 50)
}

func TestText(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"SELECT ?, ? FROM t":                    "SELECT $1, $2 FROM t",
		"a = ?2 OR b = ?1 OR c = ?2 OR d = ?":   "a = $2 OR b = $1 OR c = $2 OR d = $3",
		"a = ?12":                               "a = $12",
		`a = '?' AND "b?" = ? AND c = 'it''s?'`: `a = '?' AND "b?" = $1 AND c = 'it''s?'`,
		"-- what? and 'why\nSELECT ? - ? / ?":   "-- what? and 'why\nSELECT $1 - $2 / $3",
		"/* ? ' */ ?":                           "/* ? ' */ $1",
		`a LIKE ? ESCAPE '\' AND b = ' LIKE '`:  `a ILIKE $1 ESCAPE '\' AND b = ' LIKE '`,
		"'open ?":                               "'open ?",
		"-- no end ?":                           "-- no end ?",
		"":                                      "",
	} {
		require.Equal(t, want, postgres.Text(given))
	}
}
