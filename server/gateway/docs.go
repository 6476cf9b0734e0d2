package gateway

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed docs.html
var docsPage string

// reference is the OpenAPI document as far as the page shows it.
type reference struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Method, Path string
	Tags         []string           `json:"tags"`
	ID           string             `json:"operationId"`
	Summary      string             `json:"summary"`
	Description  string             `json:"description"`
	Parameters   []parameter        `json:"parameters"`
	Body         content            `json:"requestBody"`
	Responses    map[string]content `json:"responses"`
}

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Schema      schema `json:"schema"`
}

type content struct {
	Description string `json:"description"`
	Content     map[string]struct {
		Schema schema `json:"schema"`
	} `json:"content"`
}

type schema struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"` // a name, or several
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Items       *schema           `json:"items"`
	Properties  map[string]schema `json:"properties"`
	AllOf       []schema          `json:"allOf"`
}

// group is the operations of one service.
type group struct {
	Name       string
	Operations []operation
}

// docs renders the OpenAPI document as a page that needs nothing else: no script, and nothing from elsewhere.
func docs(document []byte) ([]byte, error) {
	var r reference
	if err := json.Unmarshal(document, &r); err != nil {
		return nil, err
	}
	groups := map[string]*group{}
	for path, methods := range r.Paths {
		for method, o := range methods {
			o.Method, o.Path = strings.ToUpper(method), path
			name := "Other"
			if len(o.Tags) > 0 {
				name = o.Tags[0]
			}
			if strings.HasPrefix(path, "/apis/argosy/") {
				name = "argosy.v1 " + name
			}
			if groups[name] == nil {
				groups[name] = &group{Name: name}
			}
			groups[name].Operations = append(groups[name].Operations, o)
		}
	}
	var all []*group
	for _, g := range groups {
		slices.SortFunc(g.Operations, func(a, b operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int { return strings.Compare(b.Name, a.Name) }) // our own first
	page, err := template.New("docs").Funcs(template.FuncMap{"type": typeOf, "ref": refOf, "anchor": anchor}).Parse(docsPage)
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	err = page.Execute(&html, map[string]any{"Groups": all, "Schemas": r.Components.Schemas})
	return html.Bytes(), err
}

// refOf is the name of the schema that one refers to, itself or by its elements; empty for none.
func refOf(s schema) string {
	for _, part := range s.AllOf {
		if name := refOf(part); name != "" {
			return name
		}
	}
	if s.Items != nil {
		return refOf(*s.Items)
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// typeOf words what a value is.
func typeOf(s schema) string {
	text := ""
	switch t := s.Type.(type) {
	case string:
		text = t
	case []any:
		var names []string
		for _, name := range t {
			names = append(names, fmt.Sprint(name))
		}
		text = strings.Join(names, " or ")
	}
	switch {
	case text == "array" && s.Items != nil:
		if text = typeOf(*s.Items); text == "" {
			text = refOf(*s.Items)
		}
		text = "list of " + text
	case text == "":
		text = refOf(s)
	case s.Format != "":
		text += ", " + s.Format
	}
	for i, e := range s.Enum {
		if i == 0 {
			text += ":"
		}
		text += " " + fmt.Sprint(e)
	}
	return text
}

// anchor is the place of an operation or a schema on the page.
func anchor(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '{' || r == '}' || r == ':' || r == ' ' {
			return '-'
		}
		return r
	}, name)
}
