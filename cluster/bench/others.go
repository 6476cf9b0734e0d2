package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// other is a program that people use when they need no cluster. It isolates nothing.
type other struct {
	name    string
	program string // empty when it is not installed
	missing string // what to do then
	write   func(dir string, tasks []task) error
	command func(dir string) []string
}

// task is a command that follows another one.
type task struct{ name, after string }

func chainOf(n int) (tasks []task) {
	for i := range n {
		t := task{name: fmt.Sprint("s", i)}
		if i > 0 {
			t.after = fmt.Sprint("s", i-1)
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func fanOf(n int) (tasks []task) {
	for i := range n {
		tasks = append(tasks, task{name: fmt.Sprint("s", i)})
	}
	return tasks
}

func others(bin string) []other {
	look := func(name string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			return ""
		}
		return path
	}
	dagu, err := filepath.Abs(filepath.Join(bin, "dagu"))
	if err != nil || look(dagu) == "" {
		dagu = ""
	}
	jobs := fmt.Sprint(runtime.NumCPU())
	return []other{
		{"make", look("make"), "apt-get install make", writeMakefile, func(dir string) []string { return []string{"-s", "-C", dir, "-j", jobs} }},
		{"snakemake", look("snakemake"), "apt-get install snakemake", writeSnakefile, func(dir string) []string {
			return []string{"--quiet", "all", "--cores", jobs, "--directory", dir, "--snakefile", filepath.Join(dir, "Snakefile")}
		}},
		{"dagu", dagu, "make bench-cluster builds it", writeDagu, func(dir string) []string {
			return []string{"start", "--quiet", filepath.Join(dir, "dag.yaml")}
		}},
	}
}

// measure runs the same commands as the workflows, in the same order.
func (p other) measure(ctx context.Context, o options, dir string, rep *report) error {
	if p.program == "" {
		rep.note("%s is not measured: it is not there (%s)", p.name, p.missing)
		return nil
	}
	for _, shape := range []struct {
		name  string
		runs  int
		tasks []task
	}{
		{figStep, o.runs, fanOf(1)},
		{figChain, max(1, o.runs/2), chainOf(10)},
		{figFan, max(1, o.runs/2), fanOf(100)},
		{figWide(o.wide), 1, fanOf(o.wide)},
	} {
		var all []time.Duration
		for i := range shape.runs {
			where := filepath.Join(dir, strings.ReplaceAll(fmt.Sprint(shape.name, i), " ", "-"))
			took, err := p.once(ctx, where, shape.tasks)
			if err != nil {
				return fmt.Errorf("%s: %w", shape.name, err)
			}
			all = append(all, took)
		}
		rep.add(p.name, shape.name, "s", 0, median(all))
	}
	return nil
}

func (p other) once(ctx context.Context, dir string, tasks []task) (time.Duration, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	if err := p.write(dir, tasks); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, p.program, p.command(dir)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DAGU_HOME="+filepath.Join(dir, "dagu"), "HOME="+dir)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return time.Since(start), nil
}

func writeMakefile(dir string, tasks []task) error {
	var all, rules strings.Builder
	for _, t := range tasks {
		fmt.Fprintf(&all, " %s", t.name)
		fmt.Fprintf(&rules, ".PHONY: %s\n%s: %s\n\t/bin/true\n", t.name, t.name, t.after)
	}
	return os.WriteFile(filepath.Join(dir, "Makefile"), []byte("all:"+all.String()+"\n"+rules.String()), 0o644)
}

func writeSnakefile(dir string, tasks []task) error {
	var names []string
	var rules strings.Builder
	for _, t := range tasks {
		names = append(names, fmt.Sprintf("%q", t.name))
		fmt.Fprintf(&rules, "rule %s:\n", t.name)
		if t.after != "" {
			fmt.Fprintf(&rules, "    input: %q\n", t.after)
		}
		fmt.Fprintf(&rules, "    output: touch(%q)\n    shell: \"true\"\n", t.name)
	}
	return os.WriteFile(filepath.Join(dir, "Snakefile"), []byte("rule all:\n    input: "+strings.Join(names, ", ")+"\n"+rules.String()), 0o644)
}

func writeDagu(dir string, tasks []task) error {
	var b strings.Builder
	fmt.Fprintf(&b, "type: graph\nmaxActiveSteps: %d\nsteps:\n", runtime.NumCPU())
	for _, t := range tasks {
		fmt.Fprintf(&b, "  - name: %s\n    command: \"true\"\n", t.name)
		if t.after != "" {
			fmt.Fprintf(&b, "    depends: [%s]\n", t.after)
		}
	}
	return os.WriteFile(filepath.Join(dir, "dag.yaml"), []byte(b.String()), 0o644)
}
