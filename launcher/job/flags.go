package job

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/sdk/train/option"
)

// Bind has a command line fill in the options.
func (o Options) Bind(f *pflag.FlagSet) {
	for i := range option.Table {
		if row := &option.Table[i]; row.Flag != "" && f.Lookup(row.Flag) == nil {
			f.Var(&texts{o, row.Flag}, row.Flag, row.Usage())
		}
	}
}

// texts is a flag that keeps every text it is given.
type texts struct {
	options Options
	flag    string
}

func (t *texts) Set(text string) error {
	t.options[t.flag] = append(t.options[t.flag], text)
	return nil
}
func (*texts) Type() string   { return "string" }
func (*texts) String() string { return "" }

// Parse reads the launcher's command line: the kind of job, its options, and the command after "--". Options that are not about
// the job are passed over.
func Parse(args []string) (*Spec, error) {
	i := -1
	if len(args) > 0 {
		i = slices.IndexFunc(Kinds(), func(k *Kind) bool { return k.Command == args[0] })
	}
	if i < 0 {
		return nil, fmt.Errorf("the command line %q names no kind of job", args)
	}
	kind, o := Kinds()[i], Options{}
	f := pflag.NewFlagSet(kind.Command, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.ParseErrorsAllowlist.UnknownFlags = true
	o.Bind(f)
	if err := f.Parse(args[1:]); err != nil {
		return nil, err
	}
	if f.NArg() != 1 {
		return nil, fmt.Errorf("the job's command must follow the flags as one argument: %s [flags] -- COMMAND", kind.Command)
	}
	return o.Spec(kind, f.Arg(0))
}
