package plane

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/responsewriter"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// runServers is what app.Run does, with putBuiltins, knowRightsFirst and keepOpenAPI on the way.
func runServers(ctx context.Context, o options.CompletedOptions) error {
	config, err := app.NewConfig(o)
	if err != nil {
		return err
	}
	config.KubeAPIs.ControlPlane.Generic.DisabledPostStartHooks = sets.StringKeySet(builtins)
	knowRightsFirst(ctx, config)
	complete, err := config.Complete()
	if err != nil {
		return err
	}
	servers, err := app.CreateServerChain(complete)
	if err != nil {
		return err
	}
	if err := putBuiltins(servers.GenericAPIServer); err != nil {
		return err
	}
	prepared, err := servers.PrepareRun()
	if err != nil {
		return err
	}
	if err := keepOpenAPI(servers); err != nil {
		return err
	}
	return prepared.Run(ctx)
}

// openAPI is where a server lists the descriptions of its kinds, by group and version.
const openAPI = "/openapi/v3"

// keepOpenAPI keeps the list of built-in kinds' descriptions once it was made. The aggregator asks each of the servers behind it for
// theirs every second, for as long as it runs, and each time the list would be put together from all groups; but built-in kinds
// do not change. Clients get the aggregator's own list.
func keepOpenAPI(servers *aggregator.APIAggregator) error {
	builtin, ok := servers.GenericAPIServer.NextDelegate().(*genericapiserver.GenericAPIServer)
	if !ok || builtin.OpenAPIV3VersionedService == nil {
		return errors.New("the server of built-in kinds is not where it was")
	}
	mux := builtin.Handler.NonGoRestfulMux
	mux.Unregister(openAPI)
	mux.Handle(openAPI, &kept{make: builtin.OpenAPIV3VersionedService.HandleDiscovery})
	return nil
}

// kept answers with JSON that is made once.
type kept struct {
	make   http.HandlerFunc
	mu     sync.Mutex
	answer []byte
}

func (k *kept) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answer == nil {
		made := responsewriter.NewInMemoryResponseWriter()
		k.make(made, r)
		if made.RespCode() != http.StatusOK {
			http.Error(w, string(made.Data()), made.RespCode())
			return
		}
		k.answer = made.Data()
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(k.answer) // who asked is gone otherwise
}
