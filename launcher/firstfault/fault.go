package firstfault

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Cause is a kind of fault, for programs.
type Cause string

// The causes.
const (
	Exception   Cause = "EXCEPTION"     // the program raised one and did not catch it
	Assertion   Cause = "ASSERTION"     // a check of the program's own failed
	NotANumber  Cause = "NAN"           // the program found that its numbers are not numbers
	Memory      Cause = "OUT_OF_MEMORY" // of the container or the machine
	GPUMemory   Cause = "GPU_OUT_OF_MEMORY"
	SharedMem   Cause = "SHARED_MEMORY" // /dev/shm is too small
	GPU         Cause = "GPU"
	Crash       Cause = "CRASH"  // by a signal that a fault in the program raises
	Killed      Cause = "KILLED" // by a signal from outside
	Stopped     Cause = "STOPPED"
	Aborted     Cause = "ABORTED" // MPI_Abort
	DiskFull    Cause = "DISK_FULL"
	NoFile      Cause = "NO_FILE"
	NoProgram   Cause = "NO_PROGRAM"
	NoLibrary   Cause = "NO_LIBRARY"
	NoModule    Cause = "NO_MODULE"
	Interpreter Cause = "WRONG_INTERPRETER" // such as a program for another Python
	Permission  Cause = "PERMISSION"
	PortInUse   Cause = "PORT_IN_USE"
	HostUnknown Cause = "HOST_UNKNOWN"
	SSH         Cause = "SSH"
	Network     Cause = "NETWORK"
	Lost        Cause = "WORKER_LOST"
	Evicted     Cause = "EVICTED"
	Stall       Cause = "STALL" // a rank took no part in what the others waited for
	Slots       Cause = "SLOTS"
	MPI         Cause = "MPI"
	Usage       Cause = "USAGE" // arguments that the program does not take
	Image       Cause = "IMAGE"
	Unequal     Cause = "UNEQUAL" // a rank lacks a variable or a mount that the step asked for
	Exit        Cause = "EXIT"    // with a code, and nothing more is known
)

// Unranked is the rank of a fault outside all ranks.
const Unranked = -1

// Pod is a pod of the job.
type Pod struct {
	// Name is the pod's, Place what people call it, such as worker-1. Node is its machine.
	Name, Place, Node string
	// First and Last are its ranks. Both are Unranked where it has none.
	First, Last int
	// Starts tells the pod that starts the ranks and passes on what they print, as that of mpirun.
	Starts bool
	// Exit is how its container failed; nil when it did not.
	Exit *Ending
	// Removed says why the cluster ended the pod, such as Evicted; Message is the cluster's own word on it.
	Removed, Message string
}

// Ending is how a container failed.
type Ending struct {
	Code            int
	Reason, Message string
	At              time.Time
}

// Fault is what a job failed of first.
type Fault struct {
	Cause Cause
	// Rank is Unranked when no rank is to blame, or none is known.
	Rank int
	// Pod is the name of the rank's pod and Host what is known of where that is; both may be empty.
	Pod, Host string
	// Words say what went wrong.
	Words string
	// Lines are the last lines of the rank, or of the program that reported the fault.
	Lines []string
}

// String says who failed of what in a line.
func (f *Fault) String() string {
	who, where := "", cmp.Or(f.Pod, f.Host)
	if f.Pod != "" && f.Host != "" && f.Pod != f.Host {
		where += " (" + f.Host + ")"
	}
	switch {
	case f.Rank != Unranked && where != "":
		who = fmt.Sprintf("rank %d on %s: ", f.Rank, where)
	case f.Rank != Unranked:
		who = fmt.Sprintf("rank %d: ", f.Rank)
	case where != "":
		who = where + ": "
	}
	return who + f.Words
}

// podOf is the pod with the rank, nil when none is.
func podOf(pods []Pod, rank int) *Pod {
	i := slices.IndexFunc(pods, func(p Pod) bool { return rank != Unranked && p.First != Unranked && p.First <= rank && rank <= p.Last })
	if i < 0 {
		return nil
	}
	return &pods[i]
}

// podOn is the pod that a runtime calls by that host name, nil when none is or several are.
func podOn(pods []Pod, host string) (found *Pod) {
	short, _, _ := strings.Cut(host, ".")
	for i := range pods {
		if p := &pods[i]; p.First != Unranked && short != "" && (p.Name == short || p.Name == host || p.Node == host) {
			if found != nil {
				return nil
			}
			found = p
		}
	}
	return found
}
