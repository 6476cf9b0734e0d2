// Command argosy-podinit holds pods, sets up their containers from inside, and
// replaces Argo's emissary for plain templates. It is static and small because
// it starts several times for every pod.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/emissary"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

func main() {
	// Namespaces, capabilities and filters belong to threads.
	runtime.LockOSThread()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "argosy-podinit is started by the kubelet of the embedded cluster: pod HOSTNAME, run, exec COMMAND... or emissary")
		return 2
	}
	var err error
	switch args[0] {
	case "run":
		_ = container.Run() // it returns with an error only, which the kubelet reports
		return container.ExitNotStarted
	case "exec":
		return container.Exec(args[1:])
	case "pod":
		err = shim.Serve(args[len(args)-1])
	case "reap":
		err = shim.Reap()
	case "emissary":
		runtime.UnlockOSThread() // it changes nothing of its threads, and each switch between two costs
		return emissary.Main(args[1:])
	default:
		err = fmt.Errorf("unknown command %q", args[0])
	}
	fmt.Fprintln(os.Stderr, "argosy-podinit:", err)
	return container.ExitNotStarted
}
