package client_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/argosy-ml/argosy/sdk/client"
)

// Upload a package, start a run of it and wait for its metrics.
func Example() {
	server := exampleServer() // in your program: client.FromEnv()
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	file, err := os.Open("testdata/mpi_run.yaml")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	pipeline, err := c.Pipelines.Upload(ctx, "mpi-run", file)
	if err != nil {
		log.Fatal(err)
	}
	run, err := c.Runs.Create(ctx, client.NewRun{
		Name: "two workers", PipelineID: pipeline.ID,
		Parameters: []client.Parameter{{Name: "workers", Value: "2"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err = c.Runs.Wait(ctx, run.ID, func(r *client.Run) { fmt.Println(r.Status) })
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range run.Metrics {
		fmt.Printf("%s %.1f\n", m.Name, m.Value)
	}
	// Output:
	// Running
	// Succeeded
	// images/sec 12.5
}

// Tell what went wrong by the kind of the error.
func ExampleIsNotFound() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Experiments.ByName(context.Background(), "no such experiment")
	fmt.Println(client.IsNotFound(err), err)
	// Output: true there is no experiment named "no such experiment"
}

// exampleServer answers the calls of the examples in the shapes of the real one.
func exampleServer() *httptest.Server {
	mux := http.NewServeMux()
	say := func(pattern, kind, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		})
	}
	say("POST /apis/v1beta1/pipelines/upload", "application/json", `{"id":"p1","name":"mpi-run"}`)
	say("POST /apis/v1beta1/runs", "application/json", `{"run":{"id":"r1","name":"two workers"}}`)
	say("GET /apis/v1beta1/experiments", "application/json", `{}`)
	say("GET /apis/argosy/v1/runs/r1/events", "text/event-stream", `event: run
data: {"id":"r1","status":"Running"}

event: run
data: {"id":"r1","status":"Succeeded","metrics":[{"name":"images/sec","node_id":"n1","value":12.5,"format":"RAW"}]}

event: end
data: {}

`)
	return httptest.NewServer(mux)
}
