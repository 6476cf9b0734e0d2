package compiler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// funcCommand is the first argument of a pipeline program that a step starts to run one of its functions:
// argosy-func PIPELINE FUNCTION -in NAME=VALUE -out NAME=FILE ...
const funcCommand = "argosy-func"

// mountedProgram is where a step sees the program that is kept on this machine.
const mountedProgram = "/argosy/program"

// ImageProgram is where the images that argosy image makes have the program.
const ImageProgram = "/pipelines"

// inImage has the functions of a pipeline run from an image, whatever Program said, and says whether there are any.
func inImage(g *graph.Pipeline, image string) (found bool) {
	var set func([]graph.Node)
	set = func(nodes []graph.Node) {
		for _, n := range nodes {
			if n.Container != nil && n.Container.Func != "" {
				n.Container.Image, found = graph.Text{{Text: image}}, true
			}
			set(n.Children())
		}
	}
	set(g.Nodes)
	set(g.Exit)
	for _, sub := range g.Subs {
		set(sub.Nodes)
	}
	if found {
		g.Settings.Program = ImageProgram
	}
	return found
}

// function makes a container run a function of the program. The host's image hides what is in people's homes, so the
// copy there is mounted.
func (s *shared) function(c *graph.Container) error {
	if s.kept != nil {
		file, err := s.kept()
		if err != nil {
			return err
		}
		volume := graph.Volume{HostPath: graph.Text{{Text: file}}}
		c.Mounts = append(slices.Clone(c.Mounts), graph.Mount{Path: mountedProgram, ReadOnly: true, Volume: volume})
	}
	for _, word := range []string{s.program, funcCommand, s.pipeline, c.Func} {
		c.Command = append(c.Command, graph.Text{{Text: word}})
	}
	return nil
}

// runFunc runs a function of one of the pipelines, inside a step.
func runFunc(ctx context.Context, args []string, stderr io.Writer, pipelines []func() *dsl.Pipeline) int {
	if len(args) < 2 {
		fmt.Fprintf(stderr, "usage: %s PIPELINE FUNCTION -in NAME=VALUE -out NAME=FILE ...\n", funcCommand)
		return 2
	}
	recorded, err := record(pipelines)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	for _, p := range recorded {
		if p.Name() != args[0] {
			continue
		}
		if err := p.RunFunc(ctx, args[1], args[2:]); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		return 0
	}
	fmt.Fprintf(stderr, "the program has no pipeline %q\n", args[0])
	return 1
}

// keepProgram copies the running program to steps of the embedded cluster, which runs on this machine, will find
// it even when the program is gone or is another. Its name there is that of its contents.
func keepProgram() (string, error) {
	file, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program that has the functions: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a place for the program that has the functions: %w", err)
	}
	return keep(file, filepath.Join(cache, "argosy", "programs"))
}

func keep(file, folder string) (_ string, err error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return "", err
	}
	kept := filepath.Join(folder, hex.EncodeToString(hash.Sum(nil)))
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(folder, ".program-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := io.Copy(tmp, in); err != nil {
		return "", err
	}
	if err := tmp.Chmod(0o755); err != nil {
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", err
	}
	return kept, os.Rename(tmp.Name(), kept)
}
