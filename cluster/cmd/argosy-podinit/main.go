// Command argosy-podinit sets containers up from the inside and stands in for
// Argo's emissary where a template is plain. It is static and small because it
// is started once or twice for every pod.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/emissary"
)

func main() {
	// Namespaces, capabilities and filters belong to threads.
	runtime.LockOSThread()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "argosy-podinit is started by the kubelet of the embedded cluster: run, exec, pause HOSTNAME or emissary")
		return 2
	}
	var err error
	switch args[0] {
	case "run":
		_ = container.Run() // it returns with an error only, which the kubelet reports
		return container.ExitNotStarted
	case "exec":
		var code int
		if code, err = container.Exec(); err == nil {
			return code
		}
	case "pause":
		err = container.Pause(args[len(args)-1])
	case "emissary":
		return emissary.Main(args[1:])
	default:
		err = fmt.Errorf("unknown command %q", args[0])
	}
	fmt.Fprintln(os.Stderr, "argosy-podinit:", err)
	return container.ExitNotStarted
}
