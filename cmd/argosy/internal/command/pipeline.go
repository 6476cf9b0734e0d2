package command

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// pipelines are the commands of uploaded pipelines.
type pipelines struct{ *cli }

func (c pipelines) command() *cobra.Command {
	return group("pipeline", "Pipelines: list, upload, get, set-default, delete-version, delete",
		c.list(), c.upload(), c.get(), c.setDefault(), c.deleteVersion(), c.delete())
}

func (c pipelines) list() *cobra.Command {
	return lister[client.Pipeline]{
		plural: "pipelines", empty: "no pipelines; upload one with argosy pipeline upload FILE",
		columns: []string{"name", "id", "parameters", "uploaded", "description"},
		all: func(ctx context.Context, cl *client.Client, o client.ListOptions) (iter.Seq2[client.Pipeline, error], error) {
			return cl.Pipelines.All(ctx, o), nil
		},
		row: func(_ output.Printer, item client.Pipeline) []string {
			return []string{item.Name, item.ID, strconv.Itoa(len(item.Parameters)), output.Time(item.CreatedAt), item.Description}
		},
	}.command(c.cli)
}

func (c pipelines) upload() *cobra.Command {
	var name, description, versionOf string
	cmd := &cobra.Command{
		Use: "upload FILE", Short: "Upload a package (.tar.gz, .zip, .yaml) as a new pipeline or version",
		Example: "  argosy pipeline upload mpi_run.tar.gz\n  argosy pipeline upload mpi_run.tar.gz --version-of mpi_run --name bigger-batches",
		Args:    args(cobra.ExactArgs(1), "one file, or - for standard input"),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			file, options, err := c.packageFile(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			if name == "" && args[0] == "-" {
				return exit.Usagef("what comes from standard input needs a --name")
			}
			if name == "" {
				name = nameOf(args[0])
			}
			options = append(options, client.Description(description))
			p := c.printer()
			if versionOf != "" {
				return c.uploadVersion(ctx, cl, versionOf, name, file, options)
			}
			uploaded, err := cl.Pipelines.Upload(ctx, name, file, options...)
			if client.IsConflict(err) {
				return fmt.Errorf("%w To add a version to it: --version-of %s --name VERSION", err, name)
			}
			if err != nil {
				return err
			}
			return p.Print(uploaded, func() { fmt.Fprintf(c.out, "pipeline %s %s\n", uploaded.Name, uploaded.ID) })
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "`name` of the pipeline or version (default: the file's)")
	cmd.Flags().StringVar(&description, "description", "", "`text` shown with it")
	cmd.Flags().StringVar(&versionOf, "version-of", "", "upload as a new version of this `pipeline` (name or id)")
	must(cmd.RegisterFlagCompletionFunc("version-of", c.completePipelines(true)))
	must(cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("description", cobra.NoFileCompletions))
	return cmd
}

func (c pipelines) uploadVersion(ctx context.Context, cl *client.Client, pipeline, name string, file io.Reader, options []client.UploadOption) error {
	owner, err := findPipeline(ctx, cl, pipeline)
	if err != nil {
		return err
	}
	version, err := cl.Versions.Upload(ctx, owner.ID, name, file, options...)
	if client.IsConflict(err) {
		return fmt.Errorf("%w Name it with --name VERSION", err)
	}
	if err != nil {
		return err
	}
	return c.printer().Print(version, func() { fmt.Fprintf(c.out, "version %s of pipeline %s %s\n", version.Name, owner.Name, version.ID) })
}

func (c pipelines) packageFile(path string) (io.ReadCloser, []client.UploadOption, error) {
	if path == "-" {
		return io.NopCloser(c.in), nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	return f, []client.UploadOption{client.FileName(filepath.Base(path))}, nil
}

// nameOf is a file's name without the endings of packages.
func nameOf(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".tar.gz", ".tgz", ".zip", ".yaml", ".yml", ".json"} {
		if rest, found := strings.CutSuffix(name, ending); found && rest != "" {
			return rest
		}
	}
	return name
}

func (c pipelines) get() *cobra.Command {
	var manifest bool
	cmd := &cobra.Command{
		Use: "get PIPELINE", Short: "Show a pipeline with its parameters and versions",
		Args: args(cobra.ExactArgs(1), "the name or id of one pipeline"), ValidArgsFunction: c.completePipelines(false),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			found, err := findPipeline(ctx, cl, args[0])
			if err != nil {
				return err
			}
			if manifest {
				text, err := cl.Pipelines.Template(ctx, found.ID)
				if err == nil {
					_, err = fmt.Fprintln(c.out, strings.TrimRight(text, "\n"))
				}
				return err
			}
			return c.show(ctx, cl, found)
		}),
	}
	cmd.Flags().BoolVar(&manifest, "manifest", false, "print its Workflow manifest instead")
	return cmd
}

func (c pipelines) show(ctx context.Context, cl *client.Client, found *client.Pipeline) error {
	all := listFlags{}
	versions, err := take(&all, cl.Versions.All(ctx, found.ID, newestFirst))
	if err != nil {
		return err
	}
	p := c.printer()
	view := struct {
		*client.Pipeline
		Versions []client.PipelineVersion `json:"versions"`
	}{found, versions}
	return p.Print(view, func() {
		p.Fields("Name", found.Name, "ID", found.ID, "Uploaded", output.Time(found.CreatedAt), "Description", found.Description)
		p.Heading("Parameters")
		p.Rows("none", []string{"name", "default"}, parameterRows(found.Parameters))
		p.Heading("Versions")
		var rows [][]string
		for _, v := range versions {
			mark := ""
			if found.Default != nil && found.Default.ID == v.ID {
				mark = "default"
			}
			rows = append(rows, []string{v.Name, v.ID, output.Time(v.CreatedAt), mark})
		}
		p.Rows("none", []string{"name", "id", "uploaded", ""}, rows)
	})
}

func parameterRows(list []client.Parameter) [][]string {
	rows := make([][]string, len(list))
	for i, p := range list {
		rows[i] = []string{p.Name, p.Value}
	}
	return rows
}

func (c pipelines) delete() *cobra.Command {
	return &cobra.Command{
		Use: "delete PIPELINE...", Short: "Delete pipelines with all their versions; their runs stay",
		Args: args(cobra.MinimumNArgs(1), "names or ids of pipelines"), ValidArgsFunction: c.completePipelines(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.forEach(args, "deleted pipeline", func(cl *client.Client, name string) error {
				found, err := findPipeline(cmd.Context(), cl, name)
				if err != nil {
					return err
				}
				return cl.Pipelines.Delete(cmd.Context(), found.ID)
			})
		},
	}
}
