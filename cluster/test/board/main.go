// Command board stands in for TensorBoard, with its flags: it serves the names of the files below the log folder.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	folder := flag.String("logdir", "", "what to show")
	port := flag.String("port", "", "where to serve")
	all := flag.Bool("bind_all", false, "on all addresses")
	flag.Parse()
	host := "127.0.0.1"
	if *all {
		host = ""
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		err := fs.WalkDir(os.DirFS(*folder), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				_, err = fmt.Fprintln(w, name)
			}
			return err
		})
		if err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe(net.JoinHostPort(host, *port), nil))
}
