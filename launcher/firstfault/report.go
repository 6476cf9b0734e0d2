package firstfault

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// report is what a program that starts ranks says of the end of one.
type report struct {
	line
	cause  Cause
	rank   int // Unranked if unknown
	host   string
	code   int // exit code; 0 if unknown
	signal int // that ended the rank; 0 for none
	words  string
	// broad: it says the same of ranks that were ended because of another.
	broad bool
	// at in the report itself, for those that reach us out of order; empty for most.
	when string
}

// reportLines is how many lines the longest report has.
const reportLines = 10

// reports are texts of several lines, here with one space between words. https://github.com/open-mpi/ompi/tree/v4.1.x/orte (help-*.txt),
// https://github.com/openpmix/prrte (help-*.txt), https://github.com/pmodels/mpich/tree/main/src/pm/hydra,
// https://github.com/pytorch/pytorch/blob/main/torch/distributed/elastic/multiprocessing/errors/__init__.py,
// https://github.com/horovod/horovod/blob/master/horovod/runner/gloo_run.py.
var reports = []struct {
	begins  string // the line where it begins has this
	pattern *regexp.Regexp
	make    func(g []string) report
}{
	{"noticed that process rank", regexp.MustCompile(`noticed that process rank (\d+) with PID \d+(?: on node (\S+))? exited on signal (\d+)`), func(g []string) report {
		return report{cause: Killed, rank: number(g[1]), host: g[2], signal: number(g[3])}
	}},
	{"detected that one or more processes exited", regexp.MustCompile(`first process to do so was: Process name: \[(?:\[\d+,\d+\]|[^\],]+),(\d+)\] Exit code: (\d+)`), func(g []string) report {
		return report{cause: Exit, rank: number(g[1]), code: number(g[2])}
	}},
	{"detected that one or more processes exited", regexp.MustCompile(`first process to do so was: Process name: (\d+) Exit code: (-?\d+)`), exited},
	{"MPI_ABORT was invoked on rank", regexp.MustCompile(`MPI_ABORT was invoked on rank (\d+) in communicator .*?(?i:errorcode):? (-?\d+)`), aborted},
	{"Abort(", regexp.MustCompile(`Abort\((-?\d+)\) on node \d+ \(rank (\d+) in comm \d+\): (.{0,200})`), func(g []string) report {
		if strings.Contains(g[3], "MPI_Abort") {
			return aborted([]string{"", g[2], g[1]})
		}
		return report{cause: MPI, rank: number(g[2]), words: "MPI: " + g[3]}
	}},
	{"has exited due to process rank", regexp.MustCompile(`has exited due to process rank (\d+) with PID \d+ on node (\S+) (exiting improperly|exiting without calling "finalize"|calling "abort")`), func(g []string) report {
		return report{cause: Exit, rank: number(g[1]), host: g[2], words: "ended in the middle of the job without MPI_Finalize"}
	}},
	{"has lost communication with a remote daemon", regexp.MustCompile(`Remote daemon: \S+ on node (\S+)`), func(g []string) report {
		return report{cause: Lost, rank: Unranked, host: g[1], words: "the worker was lost: mpirun's daemon there does not answer any more"}
	}},
	{"BAD TERMINATION OF ONE OF YOUR", regexp.MustCompile(`= RANK (\d+) PID \d+ RUNNING AT (\S+) = (?:KILLED BY SIGNAL: (\d+)|EXIT STATUS: (\d+))`), func(g []string) report {
		r := report{cause: Exit, rank: number(g[1]), host: g[2], signal: number(g[3]), code: number(g[4])}
		r.broad = r.signal == 9 || r.signal == 15
		return r
	}},
	{"BAD TERMINATION OF ONE OF YOUR", regexp.MustCompile(`= PID \d+ RUNNING AT (\S+) = EXIT CODE: (\d+)(?:.*EXIT STRING: [^(]*\(signal (\d+)\))?`), func(g []string) report {
		return report{cause: Exit, rank: Unranked, host: g[1], code: number(g[2]), signal: number(g[3])}
	}},
	{"[mpiexec@", regexp.MustCompile(`control_cb \([^)]*\): (?:connection to proxy \d+ at host (\S+) failed|assert \(!closed\) failed)`), func(g []string) report {
		return report{cause: Lost, rank: Unranked, host: g[1], words: "a worker was lost: mpiexec's proxy there does not answer any more", broad: g[1] == ""}
	}},
	{"Root Cause (first observed failure)", regexp.MustCompile(`time : (\S+) host : (\S+) rank : (\d+) \(local_rank: \d+\) exitcode : (-?\d+) `), func(g []string) report {
		r := exited([]string{"", g[3], g[4]})
		r.host, r.when = g[2], g[1]
		return r
	}},
	{"unable to launch the specified application", regexp.MustCompile(`Executable: (\S+) Node: (\S+) while attempting to start process rank (\d+)`), func(g []string) report {
		return report{cause: NoProgram, rank: number(g[3]), host: g[2], words: g[1] + " is missing or may not be executed"}
	}},
	{"unable to find the specified executable", regexp.MustCompile(`process rank (\d+).*Node: (\S+) Executable: (\S+)`), func(g []string) report {
		return report{cause: NoProgram, rank: number(g[1]), host: g[2], words: g[3] + " was not found"}
	}},
	{"[proxy:", regexp.MustCompile(`\[proxy:\S*@(\S+?)\] .*execvp error on file (\S+) \(([^)]+)\)`), func(g []string) report {
		return report{cause: NoProgram, rank: Unranked, host: g[1], words: g[2] + " cannot be executed: " + g[3]}
	}},
	{"There are not enough slots available", regexp.MustCompile(`satisfy the (\d+) slots that were requested`), func(g []string) report {
		return report{cause: Slots, rank: Unranked, words: "the command asks mpirun for " + g[1] + " ranks, more than the workers have slots"}
	}},
	{"daemon has unexpectedly failed after launch", regexp.MustCompile(`daemon has unexpectedly failed`), func([]string) report {
		return report{cause: SSH, rank: Unranked, words: "mpirun's daemon on a worker ended before it could report", broad: true}
	}},
	{"was unable to reliably start one or more daemons", regexp.MustCompile(`unable to reliably start`), func([]string) report {
		return report{cause: SSH, rank: Unranked, words: "mpirun could not start its daemon on a worker", broad: true}
	}},
	{"argosy: the worker ", regexp.MustCompile(`argosy: the worker (\S+) did not answer within (\d+) s, giving up: (.*)`), func(g []string) report {
		return report{cause: SSH, rank: Unranked, host: g[1], words: "the worker did not answer within " + g[2] + " s: " + g[3]}
	}},
	{"argosy: the worker ", regexp.MustCompile(`argosy: the worker (\S+) \((ranks? \S+)\) (lacks what the step asked for: .*? with a dot or a dash)`), func(g []string) report {
		r := report{cause: Unequal, rank: Unranked, host: g[1], words: g[2] + ": the worker " + g[3]}
		if only, ok := strings.CutPrefix(g[2], "rank "); ok {
			r.rank, r.words = number(only), "the worker "+g[3]
		}
		return r
	}},
}

func exited(g []string) report {
	r := report{cause: Exit, rank: number(g[1]), code: number(g[2])}
	if r.code < 0 { // as Python tells signals
		r.signal, r.code = -r.code, 0
	}
	return r
}

func aborted(g []string) report {
	return report{cause: Aborted, rank: number(g[1]), words: "called MPI_Abort with code " + g[2], code: number(g[2])}
}

// number reads digits that a pattern found; 0 for none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// reported reads the reports among what a pod printed.
func reported(all []line) (found []report) {
	for i, x := range all {
		for _, k := range reports {
			if !strings.Contains(x.text, k.begins) {
				continue
			}
			var words []string
			for _, y := range all[i:min(i+reportLines, len(all))] {
				words = append(words, strings.Fields(y.text)...)
			}
			if g := k.pattern.FindStringSubmatch(strings.Join(words, " ")); g != nil {
				r := k.make(g)
				r.line = x
				found = append(found, r)
				break
			}
		}
	}
	return found
}

var signals = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL, illegal instruction", 5: "SIGTRAP", 6: "SIGABRT, the program aborted itself", 7: "SIGBUS, bus error",
	8: "SIGFPE, arithmetic error", 9: "SIGKILL, as the kernel does when memory runs out", 11: "SIGSEGV, segmentation fault", 13: "SIGPIPE", 15: "SIGTERM",
	24: "SIGXCPU, a limit of CPU time", 25: "SIGXFSZ, a limit of file size", 31: "SIGSYS, a forbidden system call",
}

// bySignal says in words which signal ended a program, and returns the kind of the fault.
func bySignal(signal int) (Cause, string) {
	name := signals[signal]
	text := fmt.Sprintf("was ended by signal %d", signal)
	if name != "" {
		text += " (" + name + ")"
	}
	switch signal {
	case 4, 5, 6, 7, 8, 11, 31:
		return Crash, text
	case 1, 2, 15:
		return Stopped, text
	}
	return Killed, text
}

// byCode says in words how a program ended.
func byCode(code int) (Cause, string) {
	switch {
	case code == 126:
		return Permission, "exited with code 126: a program may not be executed"
	case code == 127:
		return NoProgram, "exited with code 127: a program was not found"
	case code > 128 && code < 160:
		cause, text := bySignal(code - 128)
		return cause, fmt.Sprintf("%s (exit code %d)", text, code)
	}
	return Exit, fmt.Sprintf("exited with code %d", code)
}
