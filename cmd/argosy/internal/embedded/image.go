package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// Image runs a command of the image store of a folder, such as `load FILE`; the cluster need not run. What it says on
// standard error becomes the error when it fails.
func Image(ctx context.Context, h home.Home, in io.Reader, out io.Writer, args ...string) error {
	program, err := Program("")
	if err != nil {
		return err
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, append([]string{"image"}, append(args, "--home", string(h))...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &errs
	// It removes what it began to unpack.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	said := strings.TrimPrefix(strings.TrimSpace(errs.String()), "argosy-cluster: ")
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && said != "" {
		return errors.New(said)
	} else if err != nil {
		return fmt.Errorf("argosy-cluster image: %w", err)
	}
	return nil
}

// StoredImage is an image of the store.
type StoredImage struct {
	Names   []string  `json:"names"`
	Digest  string    `json:"digest"`
	Layers  int       `json:"layers"`
	Size    int64     `json:"size"` // bytes, packed
	Created time.Time `json:"created"`
	Stored  time.Time `json:"stored"`
}

// Images are those of the store of a folder.
func Images(ctx context.Context, h home.Home) ([]StoredImage, error) {
	var out bytes.Buffer
	if err := Image(ctx, h, nil, &out, "list", "--output=json"); err != nil {
		return nil, err
	}
	images := []StoredImage{}
	if err := json.Unmarshal(out.Bytes(), &images); err != nil {
		return nil, fmt.Errorf("argosy-cluster image list: %w; argosy and argosy-cluster are not of the same build", err)
	}
	return images, nil
}
