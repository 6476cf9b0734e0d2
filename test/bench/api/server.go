package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// A server is a process of argosy.
type server struct {
	url, grpc string
	home      string
	conn      *grpc.ClientConn
	cmd       *exec.Cmd
	ended     chan error
}

// noCluster is a kubeconfig that leads nowhere: lists need no cluster.
const noCluster = `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"x","user":"x"}}],
"clusters":[{"name":"x","cluster":{"server":"http://127.0.0.1:1"}}],"users":[{"name":"x","user":{}}]}`

// startServer serves a store, that in home unless another is named, without a cluster.
func startServer(ctx context.Context, bin, home, store string) (*server, error) {
	config := filepath.Join(home, "no-cluster.json")
	if err := os.WriteFile(config, []byte(noCluster), 0o600); err != nil {
		return nil, err
	}
	args := []string{"server", "--kubeconfig", config, "--s3", "127.0.0.1:1"}
	if store != "" {
		args = append(args, "--store", store)
	}
	return start(ctx, bin, home, args...)
}

// start runs argosy until it serves.
func start(ctx context.Context, bin, home string, args ...string) (*server, error) {
	address, err := freePort()
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(home, "bench.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &server{home: home, grpc: address, conn: conn, ended: make(chan error, 1)}
	s.cmd = exec.Command(filepath.Join(bin, "argosy"), append(args, "--home", home, "--http", "127.0.0.1:0", "--grpc", address)...)
	s.cmd.Env = append(os.Environ(), "ARGOSY_S3_ACCESS_KEY=none", "ARGOSY_S3_SECRET_KEY=none")
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				ready <- url
			}
		}
		s.ended <- s.cmd.Wait()
	}()
	select {
	case s.url = <-ready:
		return s, nil
	case err := <-s.ended:
		text, _ := os.ReadFile(log.Name()) // only for the message
		return nil, fmt.Errorf("argosy %s ended: %w\n%s", args[0], err, text)
	case <-time.After(5 * time.Minute):
		err = fmt.Errorf("argosy %s does not serve", args[0])
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(err, s.stop())
}

func (s *server) stop() error {
	if err := errors.Join(s.conn.Close(), s.cmd.Process.Signal(syscall.SIGTERM)); err != nil {
		return err
	}
	return <-s.ended
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// memory gives the resident memory of the process in MB; files is the part that is mapped from files.
func (s *server) memory() (resident, files float64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "VmRSS" && name != "RssFile" {
			continue
		}
		kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		if err != nil {
			return 0, 0, err
		}
		if name == "VmRSS" {
			resident = kb / 1024
		} else {
			files = kb / 1024
		}
	}
	return resident, files, nil
}

// cpu is the time that the threads of the process have worked.
func (s *server) cpu() (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil { // the thread has ended
			continue
		}
		n, err := strconv.ParseInt(strings.Fields(string(b))[0], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n)
	}
	return sum, nil
}
