package dsl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Func makes a component out of a Go function, which runs in the step, out of the very program that records the
// pipeline. In and Out are structs of Values and Files, as for Define: in the function, Get returns what a Value of in
// is, Put sets one of out, and Path says where a File lies or is to be written.
//
//	var fit = dsl.Func("fit", func(ctx context.Context, in FitIn, out *FitOut) error {
//		loss, err := train(ctx, in.Data.Path(), in.Rate.Get(), out.Model.Path())
//		out.Loss.Put(loss)
//		return err
//	})
//
// The program's main must call compiler.Main, which runs the function when a step starts the program. Where the step
// finds it, Program says, or --image when it is compiled: unless set, it is a copy of the program on this machine, for the
// embedded cluster. For any other, argosy image puts the program into a container image.
func Func[In, Out any](name string, run func(ctx context.Context, in In, out *Out) error) *Component[In, Out] {
	c := &Component[In, Out]{name: name, at: caller()}
	c.run = func(ctx context.Context, inputs, outputs map[string]string) error {
		var in In
		var out Out
		if err := setInputs(reflect.ValueOf(&in).Elem(), inputs); err != nil {
			return err
		}
		if err := placeOutputs(reflect.ValueOf(&out).Elem(), outputs); err != nil {
			return err
		}
		if err := run(ctx, in, &out); err != nil {
			return err
		}
		return writeOutputs(reflect.ValueOf(&out).Elem(), outputs)
	}
	c.build = func(in In, out Out) Container {
		box := Container{function: name}
		each(reflect.ValueOf(in), func(field, name string, v settable) {
			if v.IsSet() {
				box.Args = append(box.Args, Lit("-in"), Named(Sprintf("%s=%v", name, v), field))
			}
		})
		each(reflect.ValueOf(out), func(_, name string, v settable) {
			box.Args = append(box.Args, Lit("-out"), Sprintf("%s=%v", v.recorded().single().Output, Path(v)))
		})
		return box
	}
	if run == nil {
		c.run, c.build = nil, nil
	}
	return c
}

// Program sets the container image with the program that has the pipeline's functions, and its path in the image: compiler.ImageProgram in
// images of argosy image.
func Program(image Value[string], file string) Option {
	return pipelineOption(func(p *Pipeline) {
		if !filepath.IsAbs(file) {
			p.fault(caller(), "", "Program: its path %q must be an absolute path in the image", file)
		}
		if p.constant("Program", image) == "" {
			p.fault(caller(), "", "Program: the image is empty")
		}
		p.settings.Program, p.program = file, image
	})
}

// each calls f for the fields of a struct that are Values or Files.
func each(v reflect.Value, f func(field, name string, v settable)) {
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	for i := range copied.NumField() {
		if s, name, ok := endpoint(v.Type().Field(i), copied.Field(i)); ok {
			f(v.Type().Field(i).Name, name, s)
		}
	}
}

// RunFunc runs a function of the pipeline with its step's arguments: -in NAME=VALUE for each input, and -out NAME=FILE for each output. The
// program inside a step calls it.
func (p *Pipeline) RunFunc(ctx context.Context, name string, args []string) error {
	if p == nil || p.functions[name].run == nil {
		return fmt.Errorf("pipeline %q has no function %q: is this another version of the program?", p.Name(), name)
	}
	given := map[string]map[string]string{"-in": {}, "-out": {}}
	for i, arg := range args {
		if i%2 == 0 && given[arg] != nil && i+1 < len(args) {
			continue
		}
		name, value, ok := strings.Cut(arg, "=")
		if i%2 == 0 || !ok {
			return fmt.Errorf("argument %q: functions take -in NAME=VALUE and -out NAME=FILE", arg)
		}
		given[args[i-1]][name] = value
	}
	if err := p.functions[name].run(ctx, given["-in"], given["-out"]); err != nil {
		return fmt.Errorf("function %s: %w", name, err)
	}
	return nil
}

type function func(ctx context.Context, inputs, outputs map[string]string) error

// define makes a function known by its name.
func (p *Pipeline) define(s *Step, name string, f function, at graph.Position) {
	if known, ok := p.functions[name]; ok && known.at != at {
		s.Fault("function %s is another one than that at %s: choose another name", name, place(known.at))
		return
	}
	if p.functions == nil {
		p.functions = map[string]defined{}
	}
	p.functions[name] = defined{f, at}
}

// defined is a function and the place of its Func.
type defined struct {
	run function
	at  graph.Position
}

func setInputs(in reflect.Value, args map[string]string) error {
	for i := range in.NumField() {
		v, name, ok := endpoint(in.Type().Field(i), in.Field(i))
		if !ok {
			continue
		}
		value, given := args[name]
		if !given {
			continue
		}
		v.set(constant(value))
		if err := v.valid(); err != nil {
			return fmt.Errorf("input %s is %q: %w", name, value, err)
		}
	}
	return nil
}

// outputPrefix begins the files that steps of components write their outputs to. They lie in a folder that containers have.
const outputPrefix = "/tmp/output-"

func placeOutputs(out reflect.Value, files map[string]string) error {
	for i := range out.NumField() {
		v, _, ok := endpoint(out.Type().Field(i), out.Field(i))
		if !ok {
			continue
		}
		file := files[outputName(out.Type().Field(i))]
		if file == "" {
			return fmt.Errorf("it is not said where output %s goes", out.Type().Field(i).Name)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("making the folder for outputs: %w", err)
		}
		if _, isFile := v.(AnyFile); isFile {
			v.set(constant(file))
		}
	}
	return nil
}

func writeOutputs(out reflect.Value, files map[string]string) error {
	for i := range out.NumField() {
		v, _, ok := endpoint(out.Type().Field(i), out.Field(i))
		if _, file := v.(AnyFile); !ok || file {
			continue
		}
		if !v.IsSet() {
			return fmt.Errorf("it did not set its output %s", out.Type().Field(i).Name)
		}
		value, known := Known(v)
		if !known {
			return fmt.Errorf("its output %s is not a constant: set it with Put", out.Type().Field(i).Name)
		}
		if err := os.WriteFile(files[outputName(out.Type().Field(i))], []byte(value), 0o644); err != nil {
			return fmt.Errorf("writing output %s: %w", out.Type().Field(i).Name, err)
		}
	}
	return nil
}

// Get returns the value inside a function of Func, where all values are known. Elsewhere it returns the zero T.
func (v Value[T]) Get() T {
	t, _ := v.decode()
	return t
}

// Put sets an output inside a function of Func.
func (v *Value[T]) Put(value T) { *v = Lit(value) }

// Path returns the path of a file to read or write, inside a function of Func. Elsewhere it is empty.
func (f File[K]) Path() string {
	s, _ := Known(f)
	return s
}

// Paths returns the files in a folder of CollectFiles, in the order of the loop's items, inside a function of Func.
func Paths[K any](folder File[[]K]) ([]string, error) {
	entries, err := os.ReadDir(folder.Path())
	if err != nil {
		return nil, fmt.Errorf("reading the collected files: %w", err)
	}
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = filepath.Join(folder.Path(), e.Name())
	}
	return paths, nil
}

func (v Value[T]) valid() error {
	_, err := v.decode()
	return err
}

func (f File[K]) valid() error { return nil }

// decode reads a value from the text that carries it between steps.
func (v Value[T]) decode() (T, error) {
	var out T
	s, ok := Known(v)
	if !ok {
		return out, nil
	}
	target := reflect.ValueOf(&out).Elem()
	switch {
	case target.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(s)
		if err != nil {
			return out, fmt.Errorf("it must be a duration such as 1h30m: %w", err)
		}
		target.SetInt(int64(d))
		return out, nil
	case target.Kind() == reflect.String:
		target.SetString(s)
		return out, nil
	case target.Kind() == reflect.Bool: // Python writes True
		s = strings.ToLower(s)
	}
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		return out, fmt.Errorf("it must be %s: %w", v.kind(), err)
	}
	return out, nil
}
