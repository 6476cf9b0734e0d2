package submit

import (
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// Choices are the values of a flag that takes one of a few.
func Choices(flag string) []string {
	for i := range option.Table {
		if o := &option.Table[i]; flag == o.Submit || flag == o.Flag {
			return o.Form.Words
		}
	}
	return nil
}

// fieldFlags are the flags of single fields.
func (j *Job) fieldFlags(b *binder) {
	b.StringVar(&j.Name, "name", "", "`name` of the run, which no other has, and of its step (default: the kind's, for the run with the time)")
	for i := range option.Table {
		switch o := &option.Table[i]; {
		case o.Submit == "":
		case o.Of(j.kind.Name):
			b.option(o, &j.spec, o.Submit, o.Usage())
		default:
			b.refuse(o.Submit, fmt.Sprintf("%s does not have it: %s", option.Article(j.kind.Name), o.Why))
		}
	}
}

// otherFlags set a field that has a flag of its own, too, or several fields.
func (j *Job) otherFlags(b *binder) {
	b.each("env-secret", "", option.ByFlag("env-secret").Usage(), func(text string) error {
		name, entry, err := option.ByFlag("env-secret").Form.ReadPair(text)
		if err != nil {
			return err
		}
		if j.spec.Env == nil {
			j.spec.Env = dsl.Env{}
		}
		secret, key, _ := strings.Cut(entry, "/")
		j.spec.Env[name] = dsl.Secret(secret, key)
		return nil
	})
	b.each("data-dir", "", "folder of the nodes to mount, as `/folder:/path`, or /folder for the same path; may be repeated", func(text string) error {
		if !strings.Contains(text, ":") {
			text += ":" + text
		}
		j.spec.Data = append(j.spec.Data, dsl.Lit(text))
		return nil
	})
	b.StringVar(&j.syncMode, "sync-mode", "", option.ByFlag("sync-mode").Usage())
	b.StringVar(&j.syncSource, "sync-source", "", option.ByFlag("sync-source").Usage())
	b.StringVar(&j.syncImage, "sync-image", "", option.ByFlag("sync-image").Usage())
	b.BoolVar(&j.hostNetwork, "host-network", false, "use the nodes' own network")
}

func (j *Job) pytorchFlags(b *binder) {
	b.option(option.ByFlag("slots"), &j.spec, "nproc-per-node", "`number` of processes of each pod (default 1)")
}

func (j *Job) tfFlags(b *binder) {
	b.option(option.ByFlag("role-replicas"), &j.ps, "ps", "`number` of parameter servers")
	for name, role := range map[string]*train.Role{"chief": &j.chief, "evaluator": &j.evaluator} {
		b.needsNoValue(b.each(name, "", "add a pod with the role "+name, func(text string) error {
			on, err := option.Truth.Read(text)
			role.Replicas = dsl.Lit(0)
			if on == "true" {
				role.Replicas = dsl.Lit(1)
			}
			return err
		}))
	}
	for name, role := range map[string]*train.Role{"ps": &j.ps, "chief": &j.chief, "evaluator": &j.evaluator, "worker": &j.worker} {
		for _, what := range []string{"image", "cpu", "memory", "gpus", "selector"} {
			b.option(option.ByFlag("role-"+what), role, name+"-"+what, fmt.Sprintf("`%s` of each pod of the role %s, as --%s of the job", what, name, what))
		}
		b.refuse(name+"-port", "the operator gives every pod the port 2222")
		b.refuse(name+"-cpu-limit", "the limit is what is asked for: use --"+name+"-cpu")
		b.refuse(name+"-memory-limit", "the limit is what is asked for: use --"+name+"-memory")
	}
	b.each("role-sequence", "", "`roles` in the order in which they are placed, such as ps,worker,chief", func(text string) error {
		order, err := roleSequence(text)
		j.spec.Topology.Order = order
		return err
	})
	b.refuse("success-policy", "the job ends with its chief, or with its first worker")
}

func (j *Job) mxFlags(b *binder) {
	b.option(option.ByFlag("role-replicas"), &j.ps, "servers", "`number` of servers (default 1)")
}

// leftOut answers to Arena's flags that have no meaning here.
func (b *binder) leftOut() {
	for name, why := range map[string]string{
		"config-file":     "a run has no files of the machine that submits it: put the file on a volume (--data) or into the repository (--sync-source)",
		"model-name":      "there is no serving to register a model for: leave it out, and let the command save the model",
		"model-source":    "there is no serving to register a model for: leave it out, and let the command save the model",
		"ssh-secret":      "the operator makes a key for each job: leave it out",
		"namespace":       "runs go to the namespace of the server: leave it out, or name another server with --server",
		"arena-namespace": "nothing of Arena is installed in the cluster: leave it out",
		"loglevel":        "the flag is --log-level here",
		"config":          "the server has the configuration of the cluster: leave it out, or name another server with --server",
	} {
		b.refuse(name, why)
	}
}

// roleSequence reads Worker,PS,Chief,Evaluator or w,p,c,e.
func roleSequence(text string) ([]string, error) {
	var order []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		found := ""
		for _, role := range []string{"worker", "ps", "chief", "evaluator"} {
			if word == role || word == role[:1] {
				found = role
			}
		}
		if found == "" {
			return nil, fmt.Errorf("%q is not one of worker, ps, chief and evaluator", word)
		}
		order = append(order, found)
	}
	return order, nil
}
