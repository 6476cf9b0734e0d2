// Package shim is the process that holds a pod, and how the kubelet talks
// to it.
//
// The holder, `argosy-podinit pod`, owns the pod's namespaces and is the parent
// of its containers: it starts them, writes their output and their ends into
// the pod's folder (package podlog), and joins commands to them. It knows
// nothing of Kubernetes and decides nothing. Since it is not the kubelet, pods
// go on when the kubelet dies; the next kubelet finds the holder by its socket
// in the pod's folder. When the holder dies, the kernel ends its containers.
// When a pod is over, its holder may become another pod's: see Holder.Renew.
//
// Each connection carries one request and what follows from it, see request.
package shim

import (
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

const (
	socketName = "holder"
	// LogFolder is where in a pod's folder the folders of its containers' logs are.
	LogFolder = "logs"
)

// Operations of the holder.
const (
	opRun    = "run"    // descriptor: the container's Spec. Two replies: when its command runs, and when it is over
	opWatch  = "watch"  // the same two replies for a container that an earlier kubelet started
	opSignal = "signal" // one reply
	opExec   = "exec"   // descriptors: stdin, stdout, stderr, console, as far as Given. One reply, at the end; the connection's end is the command's
	opRenew  = "renew"  // descriptor: a folder. One reply, when the holder is that of a pod to come in there
	opStdin  = "stdin"  // one reply with the container's stdin; the connection stays as long as it is used
)

// request is what the kubelet wants.
type request struct {
	Op        string
	Container string
	Life      int      `json:",omitempty"`
	Command   *Command `json:",omitempty"` // of a run
	Signal    int      `json:",omitempty"`
	OrKill    bool     `json:",omitempty"` // of a signal
	Args      []string `json:",omitempty"` // of an exec
	Hostname  string   `json:",omitempty"` // of a run: that the pod is to have
	Given     [4]bool  // which descriptors of an exec come along
}

// Command is how a container's first process is started, beside its Spec.
type Command struct {
	Stdin     bool   `json:",omitempty"` // keep a stdin for those who attach
	StdinOnce bool   `json:",omitempty"` // close it after the first of them
	TTY       bool   `json:",omitempty"`
	Shared    bool   `json:",omitempty"` // see, and be seen by, the processes of the pod's other containers
	Cgroup    string `json:",omitempty"` // folder of a cgroup to start in; empty: the holder's own
	// Without a cgroup:
	Memory    int64    `json:",omitempty"` // bytes that its processes may use together; 0: no limit
	Common    []string `json:",omitempty"` // folders of file systems in memory that others of the pod write to too, which do not count
	Processes int      `json:",omitempty"` // how many there may be, threads included; 0: no limit
}

// reply is what the holder says.
type reply struct {
	Error   string       `json:",omitempty"`
	Started time.Time    // of the first reply to a run or watch
	Exit    *podlog.Exit `json:",omitempty"` // of the second, or of the first where there is nothing to wait for
	Code    int          `json:",omitempty"` // of an exec
}
