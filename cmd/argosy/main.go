// Command argosy is everything Argosy does: it starts the server with its own cluster, compiles pipelines, and talks to a
// server from the command line.
package main

import (
	"os"

	_ "golang.org/x/crypto/x509roots/fallback" // where there are none, as in an image that holds nothing else

	"github.com/argosy-ml/argosy/cmd/argosy/internal/command"
)

func main() { os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
