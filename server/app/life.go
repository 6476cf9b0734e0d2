package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
)

// stopTimeout is what calls under way get to end by themselves when the server stops.
const stopTimeout = 10 * time.Second

// Addrs are the addresses that the server listens on, with the ports that were picked.
type Addrs struct {
	HTTP string
	GRPC string
}

// running is what there is between Start and Stop.
type running struct {
	http, grpc net.Listener
	work       *errgroup.Group // the workers and both servers
	done       <-chan struct{} // closed when one of them failed, or at Stop
	end        context.CancelFunc
}

// Start listens and serves until Stop. When it returns nil, the server answers. On a running server it does nothing.
func (a *App) Start(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.stopped:
		return errors.New("the server was stopped; make a new one")
	case a.running != nil:
		return nil
	}
	var listen net.ListenConfig
	httpListener, err := listen.Listen(ctx, "tcp", a.config.HTTP)
	if err != nil {
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	grpcListener, err := listen.Listen(ctx, "tcp", a.config.GRPC)
	if err != nil {
		return errors.Join(fmt.Errorf("listen for gRPC: %w", err), httpListener.Close())
	}
	workers := a.workers
	if err := a.ensureRunner(ctx); err != nil { // before the first run can be accepted, if it can be
		a.config.Log.WarnContext(ctx, "the cluster does not answer yet; runs wait until it does", "error", err)
		workers = append(slices.Clip(workers), worker{"service account of runs", a.keepTrying})
	}
	base, end := context.WithCancel(context.WithoutCancel(ctx)) // the server's life is its own: Stop ends it, in order
	work, base := errgroup.WithContext(base)
	for _, w := range workers {
		work.Go(func() error {
			if err := w.run(base); err != nil && base.Err() == nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			return nil
		})
	}
	work.Go(func() error {
		if err := a.http.Serve(httpListener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve HTTP: %w", err)
		}
		return nil
	})
	work.Go(func() error {
		if err := a.grpc.Serve(grpcListener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			return fmt.Errorf("serve gRPC: %w", err)
		}
		return nil
	})
	a.running = &running{http: httpListener, grpc: grpcListener, work: work, done: base.Done(), end: end}
	return nil
}

// Addrs gives the addresses of a server that runs; empty ones otherwise.
func (a *App) Addrs() Addrs {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running == nil {
		return Addrs{}
	}
	return Addrs{HTTP: a.running.http.Addr().String(), GRPC: a.running.grpc.Addr().String()}
}

// Done is closed when the server cannot go on, or was stopped; Stop then tells why. It is nil before Start.
func (a *App) Done() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running == nil {
		return nil
	}
	return a.running.done
}

// Stop shuts the server down in order: it refuses new calls, ends streams, waits for running calls until ctx ends or for ten seconds, stops
// workers and closes the store. It returns the error that made the server fail, if any. A second Stop does nothing.
func (a *App) Stop(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return nil
	}
	a.stopped = true
	defer a.endStreams()
	if a.running == nil {
		return a.store.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	cutOff := context.AfterFunc(ctx, a.grpc.Stop)
	closed := make(chan error)
	go func() {
		err := a.http.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			err = a.http.Close()
		}
		closed <- err
	}()
	a.grpc.GracefulStop()
	err := <-closed
	cutOff()
	a.running.end()
	err = errors.Join(err, a.running.work.Wait())
	return errors.Join(err, a.store.Close())
}
