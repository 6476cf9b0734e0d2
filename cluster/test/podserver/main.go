// Command podserver is what the tests of this folder run in pods: a server that is healthy while a file exists.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

var health = flag.String("health", "/", "file that must exist for /healthz and the health service to say yes")

func main() {
	listen := flag.String("listen", ":8080", "address")
	kind := flag.String("kind", "http", "http, https or grpc")
	flag.Parse()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	log.Fatal(serve(*kind, l))
}

func serve(kind string, l net.Listener) error {
	switch kind {
	case "grpc":
		s := grpc.NewServer()
		grpc_health_v1.RegisterHealthServer(s, checker{})
		return s.Serve(l)
	case "https":
		cert, err := certificate()
		if err != nil {
			return err
		}
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(*health); err != nil {
			http.Error(w, "not well", http.StatusServiceUnavailable)
		}
	})
	// Answers with the request's host and path, and prints the answer.
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		text := fmt.Sprintf("%s %s %s host=%s test=%s agent=%s", r.RemoteAddr, r.Method, r.URL.Path, r.Host, r.Header.Get("X-Test"), r.UserAgent())
		fmt.Println(text)
		fmt.Fprint(w, text)
	})
	return (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(l)
}

type checker struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (checker) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if r.Service != "" && r.Service != "argosy" {
		return nil, status.Error(codes.NotFound, "no such service")
	}
	if _, err := os.Stat(*health); err != nil {
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

// certificate is self-signed.
func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
