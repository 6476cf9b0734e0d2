package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoBlocks finds every Go block of the guides in the file that compiles them, pipelines_test.go, whatever the indentation.
func TestGoBlocks(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("pipelines_test.go")
	require.NoError(t, err)
	for _, name := range []string{"docs/pipelines.md", "docs/training.md", "docs/zh/pipelines.md", "docs/zh/training.md", "docs/scaling.md", "docs/zh/scaling.md"} {
		blocks := read(t, name).code("go")
		require.NotEmpty(t, blocks, name)
		for _, code := range blocks {
			require.True(t, strings.Contains(unindented(string(source)), unindented(code)), "%s: this is not in test/docs/pipelines_test.go:\n%s", name, code)
		}
	}
}

func unindented(code string) string { return indent.ReplaceAllString(code, "") }

var indent = regexp.MustCompile(`(?m)^\t+`)

var comment = regexp.MustCompile(`(?m)[ \t]+#.*$`)

// translations maps each English page to its Chinese one. Only the architecture is not translated.
func translations(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{"README.md": "docs/zh/README.md", "docs/README.md": "docs/zh/index.md"}
	for _, name := range walk(t, ".md") {
		if path.Dir(name) == "docs" && name != "docs/README.md" && name != "docs/architecture.md" {
			pages[name] = path.Join("docs/zh", path.Base(name))
		}
	}
	require.Greater(t, len(pages), 20)
	return pages
}

// TestTranslations: each guide has a Chinese version with the same commands and code, and the two pages link to each other. Comments are
// translated.
func TestTranslations(t *testing.T) {
	t.Parallel()
	for english, chinese := range translations(t) {
		original, translated := read(t, english), read(t, chinese)
		for _, language := range []string{"sh", "go", "console"} {
			require.Equal(t, commands(original, language), commands(translated, language), chinese)
		}
		require.Contains(t, linked(english, original), chinese, "%s links to %s", english, chinese)
		require.Contains(t, linked(chinese, translated), english, "%s links to %s", chinese, english)
	}
}

// linked returns the files that a page links to, as paths from the repository's root.
func linked(name string, p page) (found []string) {
	for _, parts := range link.FindAllStringSubmatch(p.prose, -1) {
		file, _, _ := strings.Cut(parts[1], "#")
		found = append(found, path.Join(path.Dir(name), file))
	}
	return found
}

func commands(p page, language string) (found []string) {
	for _, code := range p.code(language) {
		found = append(found, comment.ReplaceAllString(code, ""))
	}
	return found
}

// TestMessages: the troubleshooting guide explains messages that the programs say. What varies in a message is written as … there.
func TestMessages(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, name := range walk(t, ".go", ".sh", ".ts") {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(repository, name))
		require.NoError(t, err)
		source.Write(text)
	}
	code := strings.ReplaceAll(source.String(), `\"`, `"`)
	message := regexp.MustCompile("(?m)^### `(.+)`$")
	var english [][]string
	for _, name := range []string{"docs/troubleshooting.md", "docs/zh/troubleshooting.md"} {
		found := message.FindAllStringSubmatch(read(t, name).prose, -1)
		require.GreaterOrEqual(t, len(found), 20, name)
		if english == nil {
			english = found
		}
		require.Equal(t, english, found, name)
		for _, parts := range found {
			for _, words := range strings.Split(parts[1], "…") {
				if words = strings.TrimSpace(words); words != "" {
					require.True(t, strings.Contains(code, words), "%s explains a message that no program says: %s: %s", name, parts[1], words)
				}
			}
		}
	}
}

// TestTranslatedMethods: the Chinese page of the API has the methods and paths of the English one.
func TestTranslatedMethods(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `([A-Za-z0-9.]+Service\\.[A-Za-z]+)`[^|]*\\| `([^`]+)`")
	english := row.FindAllStringSubmatch(read(t, "docs/api.md").prose, -1)
	require.Greater(t, len(english), 60)
	chinese := row.FindAllStringSubmatch(read(t, "docs/zh/api.md").prose, -1)
	require.Equal(t, methods(english), methods(chinese))
}

func methods(rows [][]string) (found []string) {
	for _, parts := range rows {
		found = append(found, parts[1]+" "+parts[2])
	}
	return found
}

// TestOneWord: 产物 is the Chinese word for an artifact, on every page.
func TestOneWord(t *testing.T) {
	t.Parallel()
	for _, name := range walk(t, ".md") {
		if name != "CHANGELOG.md" {
			text, err := os.ReadFile(filepath.Join(repository, name))
			require.NoError(t, err)
			require.False(t, strings.Contains(string(text), "制"+"品"), name)
		}
	}
}
