// Package objectstore is the child that keeps artifacts and logs: an S3 server
// over a folder, which answers only to holders of its keys.
package objectstore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3afero"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/host/readiness"
)

// Command is the child `s3`. It serves on the listener inherited as file descriptor 3.
func Command() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "s3",
		Short:  "Run the object store",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.Open(dir)
			if err != nil {
				return err
			}
			keys, err := Keys(h)
			if err != nil {
				return err
			}
			l, err := net.FileListener(os.NewFile(3, "s3"))
			if err != nil {
				return fmt.Errorf("file descriptor 3: %w; this command is started by `argosy-cluster up`", err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			handler, err := Handler(h.Objects(), keys)
			if err != nil {
				return err
			}
			if err := readiness.Announce(); err != nil {
				return err
			}
			return serve(ctx, l, handler)
		},
	}
	cmd.Flags().StringVar(&dir, "home", "", "data folder of the cluster")
	return cmd
}

// Keys reads the store's keys and makes them at the first start. The endpoint is not part of the answer.
func Keys(h home.Home) (home.S3, error) {
	keys := home.S3{Bucket: home.Bucket}
	b, err := os.ReadFile(h.ObjectKeys())
	if errors.Is(err, fs.ErrNotExist) {
		keys.AccessKey, keys.SecretKey = rand.Text(), rand.Text()+rand.Text()
		if b, err = json.Marshal(keys); err != nil {
			return keys, err
		}
		return keys, home.WriteFile(h.ObjectKeys(), append(b, '\n'))
	} else if err != nil {
		return keys, err
	}
	if err := json.Unmarshal(b, &keys); err != nil {
		return keys, fmt.Errorf("%s: %w", h.ObjectKeys(), err)
	}
	if keys.AccessKey == "" || keys.SecretKey == "" {
		return keys, fmt.Errorf("%s holds no keys; remove it and new ones will be made", h.ObjectKeys())
	}
	return keys, nil
}

// Handler serves the objects in the folder dir, and makes the keys' bucket if it is missing.
func Handler(dir string, keys home.S3) (http.Handler, error) {
	backend, err := s3afero.MultiBucket(afero.NewBasePathFs(afero.NewOsFs(), dir))
	if err != nil {
		return nil, fmt.Errorf("object store in %s: %w", dir, err)
	}
	if have, err := backend.BucketExists(keys.Bucket); err != nil {
		return nil, fmt.Errorf("object store in %s: %w", dir, err)
	} else if !have {
		if err := backend.CreateBucket(keys.Bucket); err != nil {
			return nil, fmt.Errorf("object store in %s: %w", dir, err)
		}
	}
	warnings := gofakes3.StdLog(log.New(os.Stderr, "s3 ", log.LstdFlags|log.LUTC), gofakes3.LogErr)
	uploads := filepath.Join(dir, "uploads")
	// What an ended server has left of unfinished uploads is of no use to anybody.
	if err := os.RemoveAll(uploads); err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	if err := os.MkdirAll(uploads, 0o700); err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	server := gofakes3.New(newStore(checkedKeys{backend}, uploads), gofakes3.WithLogger(warnings), gofakes3.WithTimeSkewLimit(0)).Server()
	return authenticated(complete(server, uploads), keys), nil
}

func serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	finished := make(chan error, 1)
	go func() { finished <- srv.Serve(l) }()
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if serr := <-finished; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}
