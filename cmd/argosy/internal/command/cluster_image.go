package command

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/embedded"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
)

func (c clusters) images() *cobra.Command {
	g := group("image", "Images of the embedded cluster: load, pull, list, remove",
		c.loadImage(), c.pullImage(), c.listImages(), c.removeImage())
	g.Long = `The embedded cluster keeps images in its data folder, in a store of its own. These commands look at it and change it, whether the
cluster runs or not. A pod with a loaded image needs no registry; with imagePullPolicy Always it asks one all the same.`
	g.Example = "  docker save my/trainer:1 | argosy cluster image load -\n  argosy cluster image pull debian:12\n  argosy cluster image list"
	return g
}

// image runs a command of the store, with the terminal showing what is done.
func (c clusters) image(cmd *cobra.Command, busy string, args ...string) error {
	h, err := programHome(cmd)
	if err != nil {
		return err
	}
	screen := terminal.New(c.err)
	defer screen.Busy(busy)()
	var out bytes.Buffer
	err = embedded.Image(cmd.Context(), h, c.in, &out, args...)
	screen.Idle()
	_, werr := c.out.Write(out.Bytes())
	return errors.Join(err, werr)
}

func (c clusters) loadImage() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "load FILE|FOLDER|-", Short: "Load images from an archive of docker save, or from an OCI layout",
		Args: args(cobra.ExactArgs(1), "one archive, folder, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "-" {
				if _, err := os.Stat(args[0]); err != nil {
					return exit.With(exit.Usage, err)
				}
			}
			return c.image(cmd, "loading "+args[0], append([]string{"load"}, nameAnd(name, args)...)...)
		},
	}
	homeFlag(cmd)
	cmd.Flags().StringVar(&name, "name", "", "`name` for the image, when the archive has none or another one")
	must(cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions))
	return cmd
}

func nameAnd(name string, args []string) []string {
	if name == "" {
		return args
	}
	return append([]string{"--name=" + name}, args...)
}

func (c clusters) pullImage() *cobra.Command {
	var insecure []string
	cmd := &cobra.Command{
		Use: "pull NAME...", Short: "Pull images from their registries, with the credentials of docker login",
		Args: args(cobra.MinimumNArgs(1), "the name of an image or more"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			all := []string{"pull"}
			for _, registry := range insecure {
				all = append(all, "--insecure-registry="+registry)
			}
			return c.image(cmd, "pulling "+strings.Join(args, " "), append(all, args...)...)
		},
	}
	homeFlag(cmd)
	cmd.Flags().StringSliceVar(&insecure, "insecure-registry", nil, "`registry` (host or host:port) to reach without encryption")
	must(cmd.RegisterFlagCompletionFunc("insecure-registry", cobra.NoFileCompletions))
	return cmd
}

func (c clusters) listImages() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the stored images",
		Args: args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := programHome(cmd)
			if err != nil {
				return err
			}
			images, err := embedded.Images(cmd.Context(), h)
			if err != nil {
				return err
			}
			p := c.printer()
			return p.Print(images, func() {
				var rows [][]string
				for _, i := range images {
					for _, name := range i.Names {
						digest := strings.TrimPrefix(i.Digest, "sha256:")
						rows = append(rows, []string{name, digest[:min(len(digest), 12)], bytesOf(i.Size), output.Time(i.Stored)})
					}
				}
				p.Rows("no images; load or pull one", []string{"name", "digest", "size", "stored"}, rows)
			})
		},
	}
	homeFlag(cmd)
	return cmd
}

func (c clusters) removeImage() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove NAME|DIGEST...", Aliases: []string{"rm"}, Short: "Remove images that no pod uses",
		Args: args(cobra.MinimumNArgs(1), "the name or digest of an image or more"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.image(cmd, "removing "+strings.Join(args, " "), append([]string{"remove"}, args...)...)
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			h, err := programHome(cmd)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			images, err := embedded.Images(cmd.Context(), h)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, i := range images {
				names = append(names, i.Names...)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	homeFlag(cmd)
	return cmd
}
