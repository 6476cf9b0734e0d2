package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/embedded"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/programimage"
	"github.com/argosy-ml/argosy/compiler"
)

const imageHelp = `Image puts the pipeline program in DIR into a container image, so that its functions (dsl.Func) run on any cluster, and prints
the image's name. It needs the Go toolchain, and no container engine. The image holds the program, linked statically, and a
folder /tmp; --base gives it another image below, for a program that needs other files or starts other programs.

The image goes to a registry (--push), to an archive as docker save writes it (-o), or into the embedded cluster (--load). The
same source gives the same image. A name without a tag gets one: the beginning of the image's digest.

With --program FILE the image holds that program instead, such as a server that was built for it (make image).`

// programImage is what a command line of argosy image asks for.
type programImage struct {
	name, out, base, platform string
	file                      string // a program that was built already; empty: the folder's is built
	push, load                bool
	registries                programimage.Registries
}

func (c packages) image() *cobra.Command {
	var o programImage
	cmd := &cobra.Command{
		Use: "image DIR", Short: "Build a container image for the functions of a pipeline program", Long: imageHelp,
		Example: `  argosy image my-pipeline --name registry.example.com/team/my-pipeline --push
  argosy compile my-pipeline --image registry.example.com/team/my-pipeline:0123456789ab -o my-pipeline.tar.gz

  argosy image my-pipeline --load                     into the embedded cluster
  argosy image my-pipeline -o image.tar               for argosy cluster image load, or docker load
  argosy image --program bin/argosy-launcher --name registry.example.com/argosy-launcher:dev --push`,
		Args: args(cobra.MaximumNArgs(1), "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (o.file == "") != (len(args) == 1) {
				return exit.Usagef("want one folder, or --program FILE")
			}
			if o.file != "" {
				args = []string{o.file}
			} else if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return exit.Usagef("%s is not a folder", args[0])
			}
			if !o.push && !o.load && o.out == "" {
				return exit.Usagef("say where the image goes: --push, --load or -o FILE")
			}
			return c.makeImage(cmd, args[0], o)
		},
	}
	homeFlag(cmd)
	f := cmd.Flags()
	// As that of compile, this -o is a file.
	f.StringVarP(&o.out, "output", "o", "", "archive to write, as a `file`")
	f.StringVar(&o.name, "name", "", "`name` of the image, with its registry (default: the folder's)")
	f.StringVar(&o.file, "program", "", "`file` of a program for Linux that was built already; without --base it must be linked statically")
	f.StringVar(&o.base, "base", "", "`image` to build on (default: none)")
	f.StringVar(&o.platform, "platform", "linux/"+runtime.GOARCH, "`system` the image is for: linux/amd64 or linux/arm64")
	f.BoolVar(&o.push, "push", false, "push the image to its registry, with the credentials of docker login")
	f.BoolVar(&o.load, "load", false, "load the image into the embedded cluster")
	f.StringSliceVar(&o.registries.Insecure, "insecure-registry", nil, "`registry` (host or host:port) to reach without encryption")
	for _, flag := range []string{"name", "base", "insecure-registry"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	must(cmd.RegisterFlagCompletionFunc("platform", cobra.FixedCompletions([]string{"linux/amd64", "linux/arm64"}, cobra.ShellCompDirectiveNoFileComp)))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}

// makeImage builds the image and sends it where it should go.
func (c packages) makeImage(cmd *cobra.Command, dir string, o programImage) (err error) {
	ctx := cmd.Context()
	platform, err := v1.ParsePlatform(o.platform)
	if err != nil || platform.OS != "linux" || platform.Architecture == "" {
		return exit.Usagef("--platform %s: want one such as linux/amd64", o.platform)
	}
	if o.name == "" {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		o.name = strings.ToLower(filepath.Base(absolute))
	}
	tmp, err := os.MkdirTemp("", "argosy-image-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	img, err := o.build(ctx, dir, tmp, *platform)
	if err != nil {
		return err
	}
	if o.name, err = programimage.Tagged(img, o.name); err != nil {
		return exit.With(exit.Usage, err)
	}
	if o.out != "" {
		if err := programimage.Save(img, o.name, o.out); err != nil {
			return err
		}
	}
	if o.push {
		if err := o.registries.Push(ctx, img, o.name); err != nil {
			return err
		}
	}
	if o.load {
		archive := filepath.Join(tmp, "image.tar")
		if err := programimage.Save(img, o.name, archive); err != nil {
			return err
		}
		h, err := programHome(cmd)
		if err != nil {
			return err
		}
		if err := embedded.Image(ctx, h, nil, io.Discard, "load", archive); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(c.out, o.name)
	return err
}

// build checks the program and puts it into an image.
func (o programImage) build(ctx context.Context, dir, tmp string, platform v1.Platform) (v1.Image, error) {
	file, at := filepath.Join(tmp, "program"), compiler.ImageProgram
	if o.file != "" {
		file, at = o.file, "/usr/local/bin/"+filepath.Base(o.file)
		if err := programimage.Check(file, platform, o.base != ""); err != nil {
			return nil, exit.With(exit.Usage, err)
		}
	} else if err := o.compile(ctx, dir, file, platform); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var base v1.Image
	if o.base != "" {
		if base, err = o.registries.Base(ctx, o.base, platform); err != nil {
			return nil, err
		}
	}
	return programimage.New(base, platform, program, at)
}

// compile builds the folder's program into a file.
func (o programImage) compile(ctx context.Context, dir, file string, platform v1.Platform) error {
	if err := compiler.RunDir(ctx, dir, []string{"--validate", "--image", o.name}, io.Discard); err != nil {
		return compileError(err)
	}
	return compiler.BuildForImage(ctx, dir, file, platform.Architecture)
}
