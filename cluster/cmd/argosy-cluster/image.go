package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/runtime/image"
)

func imageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Look at and change the stored images, whether the cluster is up or not",
	}
	cmd.AddCommand(imageList(), imagePull(), imageLoad(), imageRemove())
	return cmd
}

// stored opens the image store of a data folder, which need not have a cluster yet.
func stored(dir string) (home.Home, *image.Store, error) {
	h, err := home.Open(dir)
	if err != nil {
		return "", nil, err
	}
	s, err := image.Open(h.Images())
	return h, s, err
}

func imageList() *cobra.Command {
	var dir, output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the stored images",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, s, err := stored(dir)
			if err != nil {
				return err
			}
			all, err := s.List()
			if err != nil {
				return err
			}
			return printImages(cmd.OutOrStdout(), all, output)
		},
	}
	homeFlag(cmd, &dir)
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table, json, yaml or name")
	return cmd
}

// imageRow is how json and yaml show an image.
type imageRow struct {
	Names   []string  `json:"names"`
	Digest  string    `json:"digest"`
	Layers  int       `json:"layers"`
	Size    int64     `json:"size"` // bytes, packed
	Created time.Time `json:"created"`
	Stored  time.Time `json:"stored"`
}

func printImages(out io.Writer, all []image.Image, format string) error {
	rows := []imageRow{} // none is a list too
	for _, i := range all {
		rows = append(rows, imageRow{i.Names, i.Digest, len(i.Layers), i.Size(), i.Created, i.Stored})
	}
	switch format {
	case "json":
		b, err := json.MarshalIndent(rows, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", b)
		}
		return err
	case "yaml":
		b, err := yaml.Marshal(rows)
		if err == nil {
			_, err = out.Write(b)
		}
		return err
	case "name":
		for _, r := range rows {
			fmt.Fprintln(out, strings.Join(r.Names, "\n"))
		}
		return nil
	case "table":
	default:
		return fmt.Errorf("--output=%s: it must be table, json, yaml or name", format)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tDIGEST\tSIZE\tSTORED")
	for _, r := range rows {
		for _, name := range r.Names {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s ago\n", name, shortDigest(r.Digest), bytesOf(r.Size), duration.HumanDuration(time.Since(r.Stored)))
		}
	}
	return w.Flush()
}

func shortDigest(d string) string {
	hash := strings.TrimPrefix(d, "sha256:")
	return hash[:min(len(hash), 12)]
}

func bytesOf(n int64) string {
	unit, size := "B", float64(n)
	for _, next := range []string{"kB", "MB", "GB"} {
		if size < 1000 {
			break
		}
		unit, size = next, size/1000
	}
	return fmt.Sprintf("%.3g %s", size, unit)
}

func imagePull() *cobra.Command {
	var dir string
	var insecure []string
	cmd := &cobra.Command{
		Use:   "pull NAME...",
		Short: "Pull images from their registries, with the credentials of `docker login`",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			_, s, err := stored(dir)
			if err != nil {
				return err
			}
			client := image.NewClient(nil, insecure)
			defer client.Close()
			for _, name := range names {
				ref, err := image.ParseName(name)
				if err != nil {
					return err
				}
				img, err := s.Pull(cmd.Context(), client, ref, authn.DefaultKeychain)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "pulled %s %s\n", ref, img.Digest)
			}
			return nil
		},
	}
	homeFlag(cmd, &dir)
	cmd.Flags().StringSliceVar(&insecure, "insecure-registry", nil, "registry (host or host:port) that may be talked to without encryption")
	return cmd
}

func imageLoad() *cobra.Command {
	var dir, name string
	cmd := &cobra.Command{
		Use:   "load FILE|FOLDER|-",
		Short: "Load images from an archive: what `docker save` writes, or an OCI layout",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, s, err := stored(dir)
			if err != nil {
				return err
			}
			all, err := s.Load(cmd.Context(), args[0], cmd.InOrStdin(), name)
			if err != nil {
				return err
			}
			for _, img := range all {
				fmt.Fprintf(cmd.OutOrStdout(), "loaded %s %s\n", strings.Join(img.Names, " "), img.Digest)
			}
			return nil
		},
	}
	homeFlag(cmd, &dir)
	cmd.Flags().StringVar(&name, "name", "", "name for the image, when the archive has none or another one")
	return cmd
}

func imageRemove() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "remove NAME|DIGEST...",
		Aliases: []string{"rm"},
		Short:   "Remove images that no pod uses",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			h, s, err := stored(dir)
			if err != nil {
				return err
			}
			pods, up, err := livePods(cmd.Context(), h)
			if err != nil {
				return err
			}
			for _, what := range names {
				name, err := s.Resolve(what)
				if err != nil {
					return err
				}
				if err := s.Remove(name, func(i *image.Image) error { return usedBy(pods, i) }); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), "removed", name)
			}
			if up { // its kubelet does it
				return nil
			}
			left, err := s.Sweep(func(*image.Image) bool { return false })
			if left > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "files of %d layers belong to users of the cluster's own; they are removed when it is up\n", left)
			}
			return err
		},
	}
	homeFlag(cmd, &dir)
	return cmd
}

// livePods are the pods that are not over; up says whether there is a cluster to have any.
func livePods(ctx context.Context, h home.Home) (pods []corev1.Pod, up bool, err error) {
	if _, up = home.Holder(h.ClusterLock()); !up {
		return nil, false, nil
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", h.Kubeconfig())
	if err != nil {
		return nil, true, err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, true, err
	}
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	if err != nil {
		return nil, true, fmt.Errorf("ask the cluster which images are used: %w", err)
	}
	return list.Items, true, nil
}

// usedBy returns an error that names the pods that use an image.
func usedBy(pods []corev1.Pod, img *image.Image) error {
	var users []string
	for _, p := range pods {
		if podUses(&p, img) {
			users = append(users, p.Namespace+"/"+p.Name)
		}
	}
	if len(users) == 0 {
		return nil
	}
	return errors.New("image " + strings.Join(img.Names, ", ") + " is used by " + strings.Join(users, ", "))
}

func podUses(p *corev1.Pod, img *image.Image) bool {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, c := range list {
			if strings.HasSuffix(c.ImageID, img.Digest) || strings.HasSuffix(c.ImageID, img.Target) {
				return true
			}
		}
	}
	if p.Status.Phase != corev1.PodPending {
		return false
	}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range list {
			ref, err := image.ParseName(c.Image)
			for _, name := range img.Names {
				if err == nil && ref.String() == name {
					return true
				}
			}
		}
	}
	return false
}
