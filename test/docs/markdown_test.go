// Package docs tests the documentation: that links lead somewhere, that the code of the guides compiles, and that the messages they explain exist.
package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// repository is the checkout, seen from here.
const repository = "../.."

// page is a Markdown file: its text, and the code blocks that were taken out of the text.
type page struct {
	prose  string
	blocks []block
}

type block struct{ language, code string }

// fence is a code block, with the indentation that it has in a list.
var fence = regexp.MustCompile("(?ms)^([ \t]*)```([a-z]*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$")

func read(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	require.NoError(t, err)
	var p page
	p.prose = fence.ReplaceAllStringFunc(string(text), func(found string) string {
		parts := fence.FindStringSubmatch(found)
		p.blocks = append(p.blocks, block{parts[2], strings.TrimRight(parts[3], "\n")})
		return strings.Repeat("\n", strings.Count(found, "\n")) // lines keep their numbers
	})
	return p
}

// code is the page's blocks of a language.
func (p page) code(language string) (found []string) {
	for _, b := range p.blocks {
		if b.language == language {
			found = append(found, b.code)
		}
	}
	return found
}

// walk gives the files of the repository with one of the extensions, as paths below it; what is built or fetched is left out.
func walk(t *testing.T, extensions ...string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(repository, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case "bin", "node_modules", "dist":
				return fs.SkipDir
			}
			if hidden := strings.HasPrefix(entry.Name(), "."); hidden && name != repository && entry.Name() != ".github" {
				return fs.SkipDir // also folders that tests of other packages make and remove meanwhile
			}
			return nil
		}
		for _, extension := range extensions {
			if strings.HasSuffix(name, extension) {
				below, err := filepath.Rel(repository, name)
				if err != nil {
					return err
				}
				found = append(found, filepath.ToSlash(below))
			}
		}
		return nil
	}))
	return found
}

var (
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
	markup     = regexp.MustCompile("`([^`]*)`" + `|!?\[([^\]]*)\]\([^)]*\)|\*\*?([^*]+)\*\*?`)
	link       = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	scheme     = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// anchors are the names under which the page's headings can be linked to, as GitHub makes them.
func (p page) anchors() map[string]bool {
	found := map[string]bool{}
	for _, parts := range heading.FindAllStringSubmatch(p.prose, -1) {
		plain := markup.ReplaceAllString(parts[1], "$1$2$3")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
				return unicode.ToLower(r)
			}
			return -1
		}, plain)
		unique := name
		for n := 1; found[unique]; n++ {
			unique = name + "-" + string(rune('0'+n))
		}
		found[unique] = true
	}
	return found
}

// TestLinks follows every relative link of every Markdown file, to a file and to a heading in it.
func TestLinks(t *testing.T) {
	t.Parallel()
	files := walk(t, ".md")
	require.Greater(t, len(files), 50)
	pages := map[string]page{}
	for _, name := range files {
		pages[name] = read(t, name)
	}
	for _, name := range files {
		lines := strings.Split(pages[name].prose, "\n")
		for i, line := range lines {
			for _, parts := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
				if fault := broken(pages, name, parts[1]); fault != "" {
					t.Errorf("%s:%d: %s: %s", name, i+1, parts[1], fault)
				}
			}
		}
	}
}

// broken says what is wrong with a link on a page, and nothing where it is fine.
func broken(pages map[string]page, from, target string) string {
	if scheme.MatchString(target) {
		return "" // elsewhere: looking would need a network
	}
	file, anchor, _ := strings.Cut(target, "#")
	at := from
	if file != "" {
		at = path.Join(path.Dir(from), file)
	}
	if strings.HasPrefix(at, "../") {
		return "leads out of the repository"
	}
	if _, err := os.Stat(filepath.Join(repository, at)); err != nil {
		return "there is no such file"
	}
	if anchor == "" {
		return ""
	}
	p, known := pages[at]
	if !known {
		return "has an anchor, and is not a Markdown file"
	}
	if !p.anchors()[anchor] {
		return "there is no such heading"
	}
	return ""
}

func TestBroken(t *testing.T) {
	t.Parallel()
	pages := map[string]page{"README.md": {prose: "# A\n\n## `make` it, *now*\n\n## A\n\n## 安装 Argosy\n"}}
	for target, want := range map[string]string{
		"#make-it-now":         "",
		"#a-1":                 "",
		"#安装-argosy":           "",
		"README.md#a":          "",
		"https://example.com/": "",
		"docs":                 "",
		"#b":                   "there is no such heading",
		"nowhere.md":           "there is no such file",
		"../elsewhere.md":      "leads out of the repository",
		"Makefile#run":         "has an anchor, and is not a Markdown file",
	} {
		require.Equal(t, want, broken(pages, "README.md", target), target)
	}
}
