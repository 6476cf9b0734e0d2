package meaning

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

var tag = regexp.MustCompile(`\{\{(=?)(.*?)\}\}`)

// fill puts values into a text.
func fill(text string, values map[string]string) string {
	return tag.ReplaceAllStringFunc(text, func(found string) string {
		m := tag.FindStringSubmatch(found)
		if m[1] == "=" {
			return expression(m[2], values)
		}
		return valueOf(strings.TrimSpace(m[2]), values)
	})
}

// fillKnown puts those values that are known into the texts of JSON, and leaves the others as they are.
func fillKnown(text string, values map[string]string) string {
	return tag.ReplaceAllStringFunc(text, func(found string) string {
		if v, ok := values[strings.TrimSpace(strings.Trim(found, "{}"))]; ok {
			return strings.Trim(encode(v), `"`)
		}
		return found
	})
}

// fillJSON puts values into the texts of JSON.
func fillJSON(text string, values map[string]string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	var visit func(any) any
	visit = func(v any) any {
		switch v := v.(type) {
		case string:
			return fill(v, values)
		case []any:
			for i := range v {
				v[i] = visit(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = visit(v[k])
			}
		}
		return v
	}
	return encode(visit(v))
}

var (
	member   = regexp.MustCompile(`[a-z]+(?:\.[-_a-zA-Z0-9]+|\['[^']*'\])+|\bitem\b`)
	itemText = regexp.MustCompile(`^(?:\(item matches "[^?]+" \? )?fromJSON\("\\"" \+ (item(?:\.[_a-zA-Z0-9]+|\['[^']*'\])?) \+ "\\""\)(?: : item\))?$`)
)

// expression puts values into an expression. One that is a value alone, or a constant, is that.
func expression(text string, values map[string]string) string {
	text = strings.TrimSpace(text)
	if constant, err := strconv.Unquote(text); err == nil && text[0] == '"' {
		return constant
	}
	if m := itemText.FindStringSubmatch(text); m != nil && values["(item)"] != "" {
		return "<item " + values["(item)"] + strings.TrimPrefix(dotted(m[1]), "item") + ">"
	}
	var b strings.Builder
	for i, quoted := range strings.Split(text, `"`) { // values stand outside of quotes
		if i > 0 {
			b.WriteByte('"')
		}
		if i%2 == 1 {
			b.WriteString(strings.NewReplacer(`\x7b`, "{", `\x7d`, "}").Replace(quoted))
			continue
		}
		b.WriteString(member.ReplaceAllStringFunc(quoted, func(p string) string {
			v := valueOf(dotted(p), values)
			if p != text && !strings.HasPrefix(v, "<") { // a constant
				return strconv.Quote(v)
			}
			return v
		}))
	}
	return b.String()
}

// dotted turns a['b'].c into a.b.c.
func dotted(path string) string { return strings.NewReplacer("['", ".", "']", "").Replace(path) }

func valueOf(path string, values map[string]string) string {
	if v, ok := values[path]; ok {
		return v
	}
	if field, is := strings.CutPrefix(path, "item."); is && values["(item)"] != "" {
		return "<raw item " + values["(item)"] + "." + field + ">"
	}
	return "<" + path + ">"
}

var (
	ofNumbers = regexp.MustCompile(`^asFloat\((.*)\) (==|!=|<=|>=|<|>) (\S+)$`)
	ofBools   = regexp.MustCompile(`^lower\((.*)\) (==|!=) "(.*)"$`)
	ofTexts   = regexp.MustCompile(`^(.*) (==|!=|<=|>=|<|>) "(.*)"$`)
	pasted    = regexp.MustCompile(`^\s*(['"]?)(.*?)(['"]?)\s*(==|!=|<=|>=|<|>)\s*(['"]?)(.*?)(['"]?)\s*$`)
	number    = regexp.MustCompile(`^-?[0-9.]+$`)
	turned    = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
)

// questions are the comparisons of a when, in one form.
func questions(when string, values map[string]string) []string {
	if own, ok := strings.CutPrefix(when, "{{="); ok {
		text := expression(strings.TrimSuffix(own, "}}"), values)
		for kind, form := range map[string]*regexp.Regexp{"number": ofNumbers, "bool": ofBools} {
			if m := form.FindStringSubmatch(text); m != nil {
				return []string{question(kind, m[1], m[2], m[3])}
			}
		}
		if m := ofTexts.FindStringSubmatch(text); m != nil {
			return []string{question("text", m[1], m[2], m[3])}
		}
		return []string{text}
	}
	if strings.Contains(when, "||") {
		return []string{fill(when, values)}
	}
	var out []string
	for part := range strings.SplitSeq(when, "&&") {
		part = strings.TrimSpace(part)
		if inner, ok := strings.CutPrefix(part, "("); ok && strings.HasSuffix(inner, ")") && !strings.ContainsAny(inner[:len(inner)-1], "()") {
			part = strings.TrimSuffix(inner, ")")
		}
		m := pasted.FindStringSubmatch(part)
		if m == nil {
			return []string{fill(when, values)}
		}
		left, op, right := m[2], m[4], m[6]
		if strings.Contains(right, "{{") {
			left, op, right = right, turned[op], left
		}
		kind := "text"
		if m[1] == "" && m[5] == "" {
			switch {
			case number.MatchString(right):
				kind = "number"
			case right == "true" || right == "false":
				kind = "bool"
			}
		}
		out = append(out, question(kind, fill(left, values), op, fill(right, values)))
	}
	return out
}

func question(kind, left, op, right string) string {
	if n, err := strconv.ParseFloat(right, 64); kind == "number" && err == nil {
		right = strconv.FormatFloat(n, 'g', -1, 64)
	}
	if kind == "text" {
		if s, err := strconv.Unquote(`"` + right + `"`); err == nil {
			right = s
		}
	}
	if s, err := strconv.Unquote(left); err == nil { // a constant
		left = s
	}
	return fmt.Sprintf("%s %s %s %q", kind, left, op, right)
}

// located is the place of an artifact that no step leaves.
func (u *unfolder) located(a wfv1.Artifact, values map[string]string) string {
	place := a.ArtifactLocation.DeepCopy()
	if raw := place.Raw; raw != nil { // text given in the manifest needs no archive
		return "<text " + asRead(raw.Data, nil, values) + ">"
	}
	if place.HTTP == nil && place.Git == nil && place.S3 == nil && place.GCS == nil && place.OSS == nil && place.HDFS == nil && place.Azure == nil {
		return ""
	}
	var texts any
	if err := json.Unmarshal([]byte(encode(place)), &texts); err != nil {
		u.fail("%w", err)
	}
	visitTexts(texts, func(text string) string { return asRead(text, nil, values) })
	return fmt.Sprintf("<imported %s none %v>", encode(texts), a.GetArchive().None != nil)
}

// visitTexts changes all texts in what JSON was read into.
func visitTexts(v any, change func(string) string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if text, ok := e.(string); ok {
				v[k] = change(text)
			} else {
				visitTexts(e, change)
			}
		}
	case []any:
		for i, e := range v {
			if text, ok := e.(string); ok {
				v[i] = change(text)
			} else {
				visitTexts(e, change)
			}
		}
	}
}

// hiddenBrace stands for a brace that the compiler hides from Argo in a variable, until the values are in their places.
const hiddenBrace = "\u2983"

// literal is a value whose dollars are kept from Kubernetes.
var literal = regexp.MustCompile(`\{\{=sprig\.replace\("\$", "\$\$", (.*?)\)\}\}`)

// dollarless are the variables of Argo that never hold a dollar.
var dollarless = regexp.MustCompile(`^<(workflow\.(name|namespace|uid|mainEntrypoint|serviceAccountName|status|creationTimestamp|duration|priority)|pod\.name|retries|tasks\.name|steps\.name|node\.name)>$`)

// asRead is a text with its values as Kubernetes reads it for a container with these variables.
func asRead(text string, env map[string]bool, values map[string]string) string {
	text = literal.ReplaceAllStringFunc(text, func(found string) string {
		v := expression(literal.FindStringSubmatch(found)[1], values)
		if dollarless.MatchString(v) {
			return v
		}
		if strings.HasPrefix(v, "<") {
			return "<as it is " + strings.TrimPrefix(v, "<")
		}
		return strings.ReplaceAll(v, "$", "$$")
	})
	return kubernetes(fill(text, values), env)
}

// variable is how Kubernetes writes one.
var variable = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// kubernetes is a text as Kubernetes reads it for a container with these variables.
func kubernetes(text string, env map[string]bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '$' && i+1 < len(text) && text[i+1] == '$' {
			b.WriteByte('$')
			i++
			continue
		}
		if text[i] == '$' && i+1 < len(text) && text[i+1] == '(' {
			name, _, closed := strings.Cut(text[i+2:], ")")
			if closed && variable.MatchString(name) && isKnown(name, env) {
				b.WriteString(cmp.Or(map[string]string{"ARGOSY_BRACE": hiddenBrace}[name], "<variable "+name+">"))
				i += len(name) + 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// isKnown says whether a container has a variable, or may be given it by Kubernetes.
func isKnown(name string, env map[string]bool) bool {
	if before, listed := env[name]; listed {
		return before
	}
	return env != nil && strings.ToUpper(name) == name
}
