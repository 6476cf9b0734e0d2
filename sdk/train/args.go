package train

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// args are the launcher's arguments. Each value is one argument, so nothing in it can become another.
func (job Spec) args(name string, k kind, roles []Task) []dsl.Value[string] {
	a := arguments{dsl.Lit(k.command), dsl.Named(dsl.Sprintf("--name=%s", name), "Name")}
	var ofRoles []*option.Option
	for i := range option.Table {
		o := &option.Table[i]
		switch {
		case o.Role:
			ofRoles = append(ofRoles, o)
			continue
		case ofRoles != nil:
			a.roles(roles, ofRoles)
			ofRoles = nil
		}
		switch {
		case o.Flag == "sync-mode":
			a.syncMode(job)
		case o.Flag != "" && o.Field != "":
			a.add(o, o.Field, "--"+o.Flag+"=", settings(o, reflect.ValueOf(job)), o.Always && o.Of(k.command))
		}
	}
	return append(a, dsl.Lit("--"), dsl.Named(or(job.Command, ""), "Command"))
}

// arguments is a command line under construction.
type arguments []dsl.Value[string]

// syncMode tells where code comes from.
func (a *arguments) syncMode(job Spec) {
	switch {
	case job.Git.Repo.IsSet():
		*a = append(*a, dsl.Lit("--sync-mode=git"))
	case job.Rsync.Source.IsSet():
		*a = append(*a, dsl.Lit("--sync-mode=rsync"))
	}
}

// roles tells what differs for the pods of each role.
func (a *arguments) roles(roles []Task, options []*option.Option) {
	for _, r := range roles {
		for _, o := range options {
			a.add(o, r.Name+" "+o.Field, "--"+o.Flag+"="+r.Name+"=", settings(o, reflect.ValueOf(r)), false)
		}
	}
}

// add adds the values of a field; always: one that is not set is what holds then.
func (a *arguments) add(o *option.Option, field, flag string, values []setting, always bool) {
	for _, s := range values {
		named, prefix, v := field, flag, s.value
		if s.key != "" {
			named, prefix = field+" "+s.key, flag+s.key+"="
		}
		if !v.IsSet() && !always && !o.Form.Keyed() && !o.Form.Many {
			continue
		}
		if !v.IsSet() {
			v = dsl.Lit(o.Unset)
		}
		*a = append(*a, dsl.Named(dsl.Sprintf("%s%v", prefix, v), named))
	}
}

// setting is a value of a field, with its key where the field is a map.
type setting struct {
	key   string
	value dsl.AnyValue
}

// settings are the values of an option in a Spec or Task.
func settings(o *option.Option, of reflect.Value) (all []setting) {
	of, _ = option.FieldOf(of, o.Field)
	switch v := of.Interface().(type) {
	case dsl.AnyValue:
		return []setting{{value: v}}
	case dsl.Env:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			secret, key, is := dsl.SecretOf(v[name])
			switch {
			case is && o.Flag == "env-secret":
				all = append(all, setting{key: name, value: dsl.Lit(secret + "/" + key)})
			case !is && o.Flag == "env":
				all = append(all, setting{key: name, value: v[name]})
			}
		}
	case map[string]dsl.Value[string]:
		return keyed(v)
	case map[string]dsl.Value[int]:
		return keyed(v)
	case []dsl.Value[string]:
		for _, one := range v {
			all = append(all, setting{value: one})
		}
	case []Metric:
		for _, m := range v {
			all = append(all, setting{value: m.rule()})
		}
	case []Toleration:
		for _, t := range v {
			all = append(all, setting{value: t.text()})
		}
	case [][]string:
		groups := make([]string, len(v))
		for i, group := range v {
			groups[i] = strings.Join(group, ",")
		}
		return constant(strings.Join(groups, ";"))
	case []string:
		return constant(strings.Join(v, ","))
	case bool:
		if v {
			return constant("true")
		}
	default:
		return constant(of.String())
	}
	return all
}

func keyed[T any](m map[string]dsl.Value[T]) (all []setting) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, setting{key: key, value: m[key]})
	}
	return all
}

func constant(text string) []setting {
	if text == "" {
		return nil
	}
	return []setting{{value: dsl.Lit(text)}}
}

// or returns v, or the constant where v is not set.
func or[T any](v dsl.Value[T], constant T) dsl.Value[T] {
	if v.IsSet() {
		return v
	}
	return dsl.Lit(constant)
}
