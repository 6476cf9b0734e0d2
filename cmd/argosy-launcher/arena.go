package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const arenaHelp = `Understands the arguments of kfp-arena's arena_launcher.py, so that steps made with it run as they are:

  arena --name=N --image=I --workers=2 ... mpijob -- COMMAND

What the step hands on is left where arena's is: /workflow-name.txt, /step-name.txt, /name.txt and /output.txt.`

// arenaKinds are the kinds of job by arena's names: its "job" is a TFJob of one worker.
var arenaKinds = map[string]string{"mpijob": "mpijob", "job": "tfjob"}

// arenaNames are arena's options, and under which of our names they go on; those without one are dealt with by themselves.
var arenaNames = map[string]string{
	"name": "name", "image": "image", "workers": "workers", "gpus": "gpus", "cpu": "cpu", "memory": "memory",
	"env": "env", "data": "data", "output-data": "data", "annotation": "annotation", "sync-source": "sync-source",
	"timeout-hours": "running-timeout", "pending-timeout-minutes": "pending-timeout",
	"gputopology": "", "mounts-on-launcher": "", "rdma": "", "tensorboard": "", "tensorboard-image": "", "log-dir": "", "output-dir": "",
	"metric": "", "metric-name": "", "metric-unit": "", "step-name": "", "workflow-name": "",
}

// arenaCommand turns arena's arguments into ours and goes on with them.
func arenaCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "arena OPTIONS mpijob -- COMMAND",
		Short:              "Run a step that was made for arena_launcher.py",
		Long:               arenaHelp,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			a, err := readArena(args)
			if err != nil {
				return usageError{err}
			}
			for _, skipped := range a.skip() {
				_, _ = fmt.Fprintln(c.ErrOrStderr(), "argosy-launcher:", skipped)
			}
			if err := a.writeFiles("/"); err != nil {
				return err
			}
			root := c.Root()
			root.SetArgs(a.translated("/"))
			return root.ExecuteContext(c.Context())
		},
	}
}

// arena is a command line of arena_launcher.py.
type arena struct {
	kind    string
	options map[string][]string
	command string
}

// readArena reads options, as --name value or --name=value, then the kind of job, then the command after "--".
func readArena(args []string) (arena, error) {
	a := arena{options: map[string][]string{}}
	dash := slices.Index(args, "--")
	if dash < 0 || dash == len(args)-1 {
		return a, errors.New("the job's command is missing: arena OPTIONS mpijob -- COMMAND")
	}
	a.command = strings.Join(args[dash+1:], " ")
	for rest := args[:dash]; len(rest) > 0; {
		word := rest[0]
		rest = rest[1:]
		name, isOption := strings.CutPrefix(word, "--")
		if !isOption {
			if a.kind != "" {
				return a, fmt.Errorf("there is more than one kind of job: %s and %s", a.kind, word)
			}
			a.kind = word
			continue
		}
		name, value, joined := strings.Cut(name, "=")
		if _, known := arenaNames[name]; !known {
			return a, fmt.Errorf("unknown option --%s", name)
		}
		if !joined {
			if len(rest) == 0 {
				return a, fmt.Errorf("option --%s has no value", name)
			}
			value, rest = rest[0], rest[1:]
		}
		a.options[name] = append(a.options[name], value)
	}
	if arenaKinds[a.kind] == "" {
		return a, fmt.Errorf("the kind of job is %q; it can be mpijob or job", a.kind)
	}
	return a, nil
}

// skip leaves out what arena leaves out, and tells of it: volumes without a path and variables without a value. This is how a
// pipeline goes without a volume.
func (a arena) skip() (skipped []string) {
	keep := func(name string, values []string, mark, form string) {
		a.options[name] = nil
		for _, value := range values {
			switch {
			case value == "" || value == "None":
			case !strings.Contains(value, mark):
				skipped = append(skipped, fmt.Sprintf("--%s %q is left out: it is not %s", name, value, form))
			default:
				a.options[name] = append(a.options[name], value)
			}
		}
	}
	var volumes []string
	for _, value := range slices.Concat(a.options["data"], a.options["output-data"]) {
		volumes = append(volumes, strings.Split(value, ",")...)
	}
	keep("data", volumes, ":", "CLAIM:/PATH")
	keep("env", a.options["env"], "=", "NAME=VALUE")
	return skipped
}

// translated gives the arguments in our terms.
func (a arena) translated(root string) []string {
	args := []string{arenaKinds[a.kind], "--job-name-file=" + root + "name.txt"}
	add := func(name, value string) { args = append(args, "--"+name+"="+value) }
	switch {
	case a.kind == "job":
		add("workers", "1")
	case a.options["workers"] == nil:
		add("workers", "2") // as arena has it
	default:
		add("workers", a.options["workers"][0])
	}
	for _, name := range []string{"name", "image", "gpus", "cpu", "memory", "sync-source", "env", "annotation", "timeout-hours", "pending-timeout-minutes"} {
		for _, value := range a.options[name] {
			switch branch, isBranch := strings.CutPrefix(value, "GIT_SYNC_BRANCH="); {
			case value == "" || value == "None" || value == "0" && (name == "cpu" || name == "memory"):
			case name == "timeout-hours":
				add(arenaNames[name], value+"h")
			case name == "pending-timeout-minutes":
				add(arenaNames[name], value+"m")
			case name == "env" && isBranch:
				add("git-branch", branch)
			default:
				add(arenaNames[name], value)
			}
		}
	}
	for _, name := range []string{"rdma", "gputopology", "mounts-on-launcher"} {
		mpi := name == "rdma" || a.kind == "mpijob"
		if value := a.last(name); mpi && (value == "true" || value == "false" && name == "mounts-on-launcher") {
			add(name, value)
		}
	}
	if a.last("tensorboard") == "true" {
		add("tensorboard", "true")
		for from, to := range map[string]string{"tensorboard-image": "tensorboard-image", "log-dir": "logdir"} {
			if value := a.last(from); value != "" {
				add(to, value)
			}
		}
	}
	if a.options["sync-source"] != nil {
		add("sync-mode", "git")
	}
	for _, volume := range a.options["data"] {
		add("data", volume)
	}
	for _, m := range a.metrics() {
		add("metric", m)
	}
	return append(args, "--", a.command)
}

// last is the value of an option that is given once; Python's False and True in lower case.
func (a arena) last(name string) string {
	all := a.options[name]
	if len(all) == 0 {
		return ""
	}
	if value := all[len(all)-1]; value != "True" && value != "False" {
		return value
	}
	return strings.ToLower(all[len(all)-1])
}

// metrics gives the metrics to look for: a format stays in force for those after it that name none.
func (a arena) metrics() []string {
	var found []string
	format := ""
	for _, m := range a.options["metric"] {
		name, own, given := strings.Cut(m, ":")
		if given {
			format = own
		}
		if format != "" {
			name += ":" + format
		}
		found = append(found, name)
	}
	for i, name := range a.options["metric-name"] { // the option of arena's early releases
		unit := "PERCENTAGE"
		if i < len(a.options["metric-unit"]) {
			unit = a.options["metric-unit"][i]
		}
		found = append(found, name+":"+unit)
	}
	return found
}

// writeFiles leaves what is known before the job begins; the job's name follows when it has one.
func (a arena) writeFiles(root string) error {
	output := a.last("output-data")
	if output == "" {
		output = "N/A"
	}
	for file, text := range map[string]string{
		"workflow-name.txt": a.last("workflow-name"), "step-name.txt": a.last("step-name"), "output.txt": output,
	} {
		if err := os.WriteFile(root+file, []byte(text), 0o644); err != nil { //nolint:gosec // read by the executor, under another user
			return fmt.Errorf("leave what later steps ask for: %w", err)
		}
	}
	return nil
}
