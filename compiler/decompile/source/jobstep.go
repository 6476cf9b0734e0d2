package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// jobStep writes a step of package train.
func (w steps) jobStep(p *place) string {
	j := p.job
	spec := w.jobFields(j)
	body := strings.Join(spec, ",\n") + ",\n"
	if j.embedded {
		body = "Spec: train.Spec{\n" + body + "},\n"
		if roles := w.jobRoles(j); roles != "" {
			body += roles
		}
	}
	options := w.after(p)
	if len(j.env) > 0 {
		parts := make([]string, len(j.env))
		for i, e := range j.env {
			parts[i] = fmt.Sprintf("%q: %s", e.Name, w.variableOf(e, nil))
		}
		options = append(options, "dsl.Variables(dsl.Env{"+lines(parts)+"})")
	}
	options = append(options, w.containerOptions(p.Container)...)
	for _, f := range p.Container.Files {
		options = append(options, fmt.Sprintf("dsl.At(%q, %s)", f.Path, w.file(f)))
	}
	options = append(options, w.podOptions(p.Node)...)
	call := fmt.Sprintf("train.%s(p, %q, train.%s{\n%s}", j.function, p.Name, j.goType, body)
	for _, o := range options {
		call += ", " + o
	}
	return call + ")"
}

// jobFields are the fields of a Spec.
func (w steps) jobFields(j *job) []string {
	var fields []string
	nested := map[string][]string{}
	var order []string
	for i := 0; i < len(j.values); i++ {
		v := j.values[i]
		if v.flag.Role {
			continue
		}
		same := []jobValue{v}
		for i+1 < len(j.values) && !j.values[i+1].flag.Role && j.values[i+1].flag.Field == v.flag.Field {
			i++
			same = append(same, j.values[i])
		}
		field := v.flag.Field
		if v.flag.Flag == "sync-mode" {
			continue // the group of the other fields says it
		}
		code := w.jobField(v.flag, field, same)
		if group, inner, ok := strings.Cut(field, "."); ok {
			if nested[group] == nil {
				order = append(order, group)
				fields = append(fields, group)
			}
			nested[group] = append(nested[group], inner+": "+code)
			continue
		}
		fields = append(fields, field+": "+code)
	}
	for _, group := range order {
		i := slices.Index(fields, group)
		fields[i] = fmt.Sprintf("%s: train.%s{%s}", group, group, lines(nested[group]))
	}
	return fields
}

// jobField is the value of a field.
func (w steps) jobField(f *jobFlag, field string, values []jobValue) string {
	parts := make([]string, len(values))
	switch {
	case f.Form.Keyed():
		for i, v := range values {
			code := w.as(v.text, f.goType)
			if v.flag.secret() {
				code = w.secretOf(v.text)
			}
			parts[i] = fmt.Sprintf("%q: %s", v.key, code)
		}
		goType := "map[string]dsl.Value[" + f.goType + "]"
		if field == "Env" {
			goType = "dsl.Env"
		}
		return goType + "{" + lines(parts) + "}"
	case field == "Metrics":
		for i, v := range values {
			parts[i] = "{" + w.metric(v.text) + "}"
		}
		return "[]train.Metric{" + lines(parts) + "}"
	case field == "Tolerations":
		for i, v := range values {
			parts[i] = "{" + w.jobToleration(v.text) + "}"
		}
		return "[]train.Toleration{" + lines(parts) + "}"
	case f.Form.Many:
		for i, v := range values {
			parts[i] = w.as(v.text, f.goType)
		}
		return "[]dsl.Value[" + f.goType + "]{" + lines(parts) + "}"
	}
	text := constantOf(values[0].text)
	switch field {
	case "ImagePullPolicy":
		return literal(text)
	case "CleanPodPolicy":
		if slices.Contains([]string{"Running", "All", "None"}, text) {
			return "train.Clean" + text
		}
		return literal(text)
	case "RestartPolicy":
		if slices.Contains([]string{"Never", "OnFailure"}, text) {
			return "train.Restart" + text
		}
		return literal(text)
	case "Topology.Affinity", "Topology.AntiAffinity":
		for group := range strings.SplitSeq(text, ";") {
			parts = append(parts, "{"+quoted(group)+"}")
		}
		return "[][]string{" + strings.Join(parts[1:], ", ") + "}"
	case "Topology.Order":
		return "[]string{" + quoted(text) + "}"
	case "Network":
		if slices.Contains([]string{"CNI", "Host", "ENI"}, text) {
			return "dsl.Lit(train." + text + ")"
		}
	}
	return w.as(values[0].text, f.goType)
}

// secretOf reads SECRET/KEY.
func (steps) secretOf(t graph.Text) string {
	secret, key, _ := strings.Cut(constantOf(t), "/")
	return fmt.Sprintf("dsl.Secret(%q, %q)", secret, key)
}

func quoted(list string) string {
	var parts []string
	for name := range strings.SplitSeq(list, ",") {
		parts = append(parts, literal(name))
	}
	return strings.Join(parts, ", ")
}

// metric reads NAME[:FORMAT[:REDUCE[:REGEX]]].
func (w steps) metric(t graph.Text) string {
	rule, ok := t.Constant()
	if !ok {
		return "NameFrom: " + w.value(t)
	}
	parts := strings.SplitN(rule, ":", 4)
	fields := []string{"Name: " + literal(parts[0])}
	for i, name := range []string{"Format", "Reduce", "Pattern"} {
		if i+1 >= len(parts) || parts[i+1] == "" || name == "Format" && parts[1] == "RAW" && len(parts) == 3 {
			continue
		}
		fields = append(fields, name+": "+metricWord(parts[i+1], name))
	}
	if len(parts) > 1 && parts[len(parts)-1] == "" { // none that the fields write
		return "NameFrom: dsl.Lit(" + literal(rule) + ")"
	}
	return strings.Join(fields, ", ")
}

func metricWord(text, field string) string {
	words := map[string]string{
		"RAW": "Raw", "PERCENTAGE": "Percentage", "last": "Last", "max": "Max", "min": "Min", "mean": "Mean", "sum-over-ranks": "SumOverRanks",
	}
	if word := words[text]; word != "" && field != "Pattern" {
		return "train." + word
	}
	return literal(text)
}

// jobToleration reads KEY[=VALUE][:EFFECT].
func (w steps) jobToleration(t graph.Text) string {
	effect := ""
	if last := &t[len(t)-1]; last.Ref == nil {
		for _, e := range []string{"NoSchedule", "PreferNoSchedule", "NoExecute"} {
			if rest, ok := strings.CutSuffix(last.Text, ":"+e); ok {
				effect = e
				t = append(append(graph.Text{}, t[:len(t)-1]...), graph.Part{Text: rest})
				if rest == "" && len(t) > 1 {
					t = t[:len(t)-1]
				}
			}
		}
	}
	key, value, ok := cutKey(t)
	fields := []string{"Key: " + literal(key), "Value: " + w.value(value)}
	if !ok {
		fields = []string{"Key: " + literal(constantOf(t))}
	}
	if effect != "" {
		fields = append(fields, "Effect: "+literal(effect))
	}
	return strings.Join(fields, ", ")
}

// jobRoles writes what differs for the roles of a job.
func (w steps) jobRoles(j *job) string {
	var out, tasks []string
	for _, role := range j.roles {
		var fields []string
		ends := ""
		for i := 0; i < len(j.values); i++ {
			v := j.values[i]
			if v.role != role {
				continue
			}
			same := []jobValue{v}
			for i+1 < len(j.values) && j.values[i+1].flag == v.flag && j.values[i+1].role == role {
				i++
				same = append(same, j.values[i])
			}
			if v.flag.Field == "Ends" {
				ends = ", Ends: true"
				continue
			}
			fields = append(fields, v.flag.Field+": "+w.jobField(v.flag, v.flag.Field, same))
		}
		code := "train.Role{" + lines(fields) + "}"
		if j.jobKind.roles != nil {
			name := strings.ToUpper(role[:1]) + role[1:]
			if role == "ps" {
				name = "PS"
			}
			out = append(out, name+": "+code+",\n")
			continue
		}
		task := "{Name: " + literal(role)
		if len(fields) > 0 {
			task += ", Role: " + code
		}
		tasks = append(tasks, task+ends+"}")
	}
	if len(tasks) > 0 {
		out = append(out, "Tasks: []train.Task{"+lines(tasks)+"},\n")
	}
	return strings.Join(out, "")
}
