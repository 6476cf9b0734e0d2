// Package starter writes the project that `argosy new` begins with.
package starter

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed project
var project embed.FS

// Project is what a starter project is made for.
type Project struct {
	Name    string // of the pipeline and the command
	Module  string // path of the Go module
	Version string // of Argosy that it requires; empty: the newest, when it is tidied
	SDK     string // folder of an Argosy checkout to use instead of a release
}

// minGo is the oldest Go that Argosy's module is for.
const minGo = "1.26.0"

var (
	name      = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	notInName = regexp.MustCompile(`[^a-z0-9]+`)
)

// NameOf makes the name of a pipeline out of that of a folder: My_Pipeline is my-pipeline.
func NameOf(folder string) string {
	return strings.Trim(notInName.ReplaceAllString(strings.ToLower(folder), "-"), "-")
}

// Check says what is wrong with the project's names.
func (p Project) Check() error {
	if !name.MatchString(p.Name) || len(p.Name) > 50 {
		return fmt.Errorf("%q cannot be the name of a pipeline: use lower-case letters, digits and -, beginning with a letter, at most 50", p.Name)
	}
	if p.Module == "" || strings.ContainsAny(p.Module, " \t\n\"'`") {
		return fmt.Errorf("%q cannot be the path of a Go module: want one such as example.com/%s", p.Module, p.Name)
	}
	if p.SDK != "" {
		if _, err := os.Stat(filepath.Join(p.SDK, "sdk", "dsl")); err != nil {
			return fmt.Errorf("%s is not a checkout of Argosy: it has no folder sdk/dsl", p.SDK)
		}
	}
	return nil
}

// Write writes the project into dir, which must be empty or not exist, and returns the files it wrote.
func (p Project) Write(dir string) ([]string, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("%s holds files already: %w", dir, fs.ErrExist)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	data := struct {
		Project
		Go string
	}{p, minGo}
	if p.SDK != "" {
		data.Version = "v0.0.0" // whatever lies in the folder
	}
	var written []string
	templates, err := fs.Glob(project, "project/*.tmpl")
	if err != nil {
		return nil, err
	}
	for _, path := range templates {
		t, err := template.ParseFS(project, path)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, data); err != nil {
			return nil, err
		}
		file := strings.TrimSuffix(filepath.Base(path), ".tmpl")
		if file == "gitignore" {
			file = ".gitignore"
		}
		if err := os.WriteFile(filepath.Join(dir, file), out.Bytes(), 0o644); err != nil {
			return nil, err
		}
		written = append(written, file)
	}
	return written, nil
}
