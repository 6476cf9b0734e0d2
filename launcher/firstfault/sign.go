package firstfault

import (
	"regexp"
	"slices"
	"strings"
)

// weight tells how much a sign says.
type weight int

const (
	hint        weight = iota // it may have been handled
	consequence               // another rank is to blame
	own                       // the rank's own fault
)

// sign is a fault as a rank's output tells it.
type sign struct {
	line   // where
	cause  Cause
	weight weight
	words  string
	host   string // that it names, empty for none
}

// mark recognises a sign in a line. Words may hold $1 and so on for the pattern's groups; $0 is the line.
type mark struct {
	cause   Cause
	weight  weight
	pattern *regexp.Regexp
	words   string
	host    int // the group with a host; 0 for none
}

func m(cause Cause, weight weight, pattern, words string) mark {
	return mark{cause, weight, regexp.MustCompile(pattern), words, 0}
}

func onHost(group int, x mark) mark {
	x.host = group
	return x
}

// follows are what other ranks' failures look like. They go first: their texts have other marks in them.
var follows = []mark{
	m(Stall, consequence, `Watchdog caught collective operation timeout: WorkNCCL\(.*?OpType=(\w+).*ran for (\d+) milliseconds`, "waited $2 ms in $1 for other ranks"),
	m(Stall, consequence, `(?i)Timed out waiting (\d+)ms for (?:recv|send) operation`, "waited $1 ms for other ranks"),
	m(Stall, consequence, `(?:Wait timeout|Socket Timeout|The client socket has timed out after \S+ while trying to connect)`, "$0"),
	m(Stall, consequence, `wait timeout after \d+ms|DistStoreError: Timed out after \d+ seconds waiting for clients`, "$0"),
	m(Network, consequence, `Connection (?:closed|reset) by (?:remote )?peer|ConnectionResetError|Broken pipe|Socket closed|connection reset by peer`, "lost the connection to another rank: $0"),
	m(Network, consequence, `remote process exited or there was a network error|ncclRemoteError|Connection closed by remote peer`, "lost the connection to another rank: $0"),
	m(Network, consequence, `NCCL communicator was aborted|Some NCCL operations have failed or timed out|Process group watchdog thread terminated`, "$0"),
	m(Network, consequence, `Horovod has been shut down|HorovodInternalError|Ranks? .* shut ?down`, "$0"),
	m(Network, consequence, `Collective ops is aborted by|errors_impl\.(?:Unavailable|Aborted|Cancelled)Error|UNAVAILABLE: (?:failed to connect|Connection reset|Socket closed)`, "$0"),
	m(Stopped, consequence, `SignalException: Process \d+ got signal: (\d+)|Sending process \d+ closing signal|received SIGTERM`, "$0"),
	m(Stopped, consequence, `^KeyboardInterrupt`, "was interrupted"),
	m(Network, hint, `^gloo.*Connect(?:ion)? (?:timed out|refused)`, "$0"),
}

// faults are a rank's own.
var faults = []mark{
	m(GPUMemory, own, `CUDA out of memory|CUDA error: out of memory|CUBLAS_STATUS_ALLOC_FAILED|OOM when allocating tensor|torch\.(?:cuda\.)?OutOfMemoryError|HIP out of memory|RESOURCE_EXHAUSTED: Out of memory`, "the GPU's memory is full: $0"),
	m(SharedMem, own, `insufficient shared memory \(shm\)|out of shared memory|unable to (?:write|mmap).*/torch_|killed by signal: Bus error`, "/dev/shm is too small (give the job more shared memory): $0"),
	m(GPU, own, `CUDA error: |device-side assert|CUDNN_STATUS_\w+|CUDA driver version is insufficient|no CUDA-capable device|uncorrectable ECC error|Found no NVIDIA driver|failed call to cuInit|CUDA_ERROR_\w+|ncclUnhandledCudaError|NCCL WARN Cuda failure|Duplicate GPU detected`, "a GPU failed: $0"),
	m(Memory, own, `^MemoryError|std::bad_alloc|Cannot allocate memory|Unable to allocate [\d.]+ [KMGT]iB|DefaultCPUAllocator: (?:can't|not enough)`, "ran out of memory: $0"),
	m(DiskFull, own, `No space left on device|Disk quota exceeded|\[Errno 28\]|file write failed|enforce fail at inline_container`, "a disk is full: $0"),
	m(NoLibrary, own, `error while loading shared libraries: ([^:]+): cannot open|ImportError: (lib\S+): cannot open shared object file|version .(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+. not found|OSError: (lib\S+): cannot open`, "a library is missing: $0"),
	m(NoModule, own, `^ModuleNotFoundError|^ImportError|No module named`, "a Python package is missing: $0"),
	m(Interpreter, own, `^SyntaxError|^IndentationError|Exec format error|bad interpreter|requires a different Python|requires Python`, "the program is not for what runs it: $0"),
	m(NoFile, own, `can't open file '([^']+)'|^FileNotFoundError|can't cd to |: cd: .*No such file|NotFoundError: .*(?:No such file|Failed to find)`, "a file is missing: $0"),
	m(Permission, own, `^PermissionError|^\S*sh: .*Permission denied|: Permission denied$|Operation not permitted`, "a permission is missing: $0"),
	m(PortInUse, own, `Address already in use|EADDRINUSE|Failed to bind.*port|errno: 98`, "a port is in use: $0"),
	onHost(1, m(HostUnknown, own, `ssh: Could not resolve hostname ([^:\s]+)`, "no such host: $0")),
	m(HostUnknown, own, `Name or service not known|Temporary failure in name resolution|nodename nor servname|gai error`, "a host name is not known: $0"),
	onHost(1, m(SSH, own, `ssh: connect to host (\S+) port \d+: (.+)`, "ssh cannot connect: $0")),
	onHost(1, m(SSH, own, `^(?:\S+@)?(\S+): Permission denied \((?:publickey|password)[^)]*\)`, "sshd refuses the key: $0")),
	m(SSH, own, `Host key verification failed|kex_exchange_identification|Connection closed by (\S+) port \d+|ssh_exchange_identification`, "ssh failed: $0"),
	m(NotANumber, own, `(?i)loss is nan|nan (?:or inf )?(?:loss|values?|detected|encountered)|\bis nan or inf|had nan values|non-?finite loss|invalid loss, terminating|nan in (?:loss|gradient|summary|model)|contains? nan|grad\w* (?:are|is|contain\w*) nan`, "numbers are not numbers any more: $0"),
	m(Assertion, own, `^AssertionError|Assertion .* failed`, "a check of the program failed: $0"),
	m(Network, own, `^ConnectionRefusedError|Connection refused|Network is unreachable|No route to host|Connection timed out|NET/IB.*(?:error|failed)|No (?:interface|IP address) found|enforce fail at .*gloo`, "the network failed: $0"),
	m(MPI, own, `\*{3} (MPI_ERR_\w+): (.+)`, "MPI: $1: $2"),
	m(MPI, own, `Fatal error in (?:P?MPI_|internal_)\w+|PML add procs failed|MPI_INIT has failed|No components were able to be opened|OFI addrinfo\(\) failed`, "MPI: $0"),
	m(Crash, own, `Signal: (Segmentation fault|Bus error|Floating point exception|Illegal instruction|Aborted) \((\d+)\)|Caught signal \d+ \(([^:)]+)|Fatal Python error: (.+)|Program received signal (SIG\w+)`, "crashed: $0"),
	m(Crash, own, `^(?:.*: )?(Segmentation fault|Bus error|Illegal instruction|Floating point exception)(?: \(core dumped\))?$`, "crashed: $0"),
	m(Crash, own, `double free or corruption|corrupted (?:size|double)|free\(\): invalid|malloc\(\): |buffer overflow detected|stack smashing detected`, "crashed, its memory is corrupt: $0"),
	m(Crash, own, `terminate called after throwing an instance of '([^']+)'`, "threw an exception that it does not catch: $1"),
	m(Exception, own, `forrtl: severe \(\d+\): (.+)|Fortran runtime error: (.+)|^thread '.*' panicked at|^panic: (.+)`, "$0"),
	m(Usage, own, `error: (?:unrecognized arguments|the following arguments are required|argument \S+: )|invalid option|unrecognized option`, "wrong arguments: $0"),
	m(NoProgram, own, `^(?:\S*sh: )?(?:line \d+: |\d+: )?\S+: (?:command )?not found$|executable file not found|: No such file or directory$`, "a program or file is missing: $0"),
	m(Killed, hint, `^Killed$|Out of memory: Killed process`, "was killed: $0"),
	m(Exception, hint, `(?i)^(?:\S+ )?(?:fatal|critical)(?: error)?: (.+)`, "$0"),
}

// exceptionLine ends a traceback of Python's.
var exceptionLine = regexp.MustCompile(`^\s?([A-Za-z_][\w.]*)(?:: ?(.*))?$`)

// launchers are the errors of programs that report the faults of others.
var launchers = regexp.MustCompile(`ChildFailedError|detected that one or more processes exited`)

// signs reads what a speaker printed.
func signs(all []line) (found []sign) {
	ignored, inside := false, false
	for i, x := range all {
		text := strings.TrimSpace(x.text)
		switch {
		case strings.HasPrefix(text, "Exception ignored in"):
			ignored = true
			continue
		case strings.HasPrefix(text, "Traceback (most recent call last)"):
			inside = true
			continue
		case inside:
			indented := strings.HasPrefix(x.text, "  ")
			if match := exceptionLine.FindStringSubmatch(x.text); match != nil && !indented && i > 0 {
				inside = false
				if s, ok := exception(x, text); ok && !ignored {
					found = append(found, s)
				}
				ignored = false
			}
			continue
		}
		if s, ok := marked(x, text); ok {
			found = append(found, s)
		}
	}
	return found
}

// exception classifies the last line of a traceback.
func exception(x line, text string) (sign, bool) {
	if launchers.MatchString(text) {
		return sign{}, false
	}
	if s, ok := marked(x, text); ok && s.weight != hint {
		if s.weight == own && (s.cause == NoProgram || s.cause == Network) && strings.Contains(text, "FileNotFoundError") {
			s.cause = NoFile
		}
		return s, true
	}
	name, _, _ := strings.Cut(text, ":")
	if name == "SystemExit" && (text == "SystemExit" || strings.HasSuffix(text, ": 0")) {
		return sign{}, false
	}
	return sign{line: x, cause: Exception, weight: own, words: "raised " + text}, true
}

func marked(x line, text string) (sign, bool) {
	for _, list := range [][]mark{follows, faults} {
		for _, k := range list {
			match := k.pattern.FindStringSubmatchIndex(text)
			if match == nil {
				continue
			}
			words := strings.ReplaceAll(k.words, "$0", "\x00")
			words = string(k.pattern.ExpandString(nil, words, text, match))
			s := sign{line: x, cause: k.cause, weight: k.weight, words: strings.ReplaceAll(words, "\x00", text)}
			if k.host > 0 && match[2*k.host] >= 0 {
				s.host = text[match[2*k.host]:match[2*k.host+1]]
			}
			return s, true
		}
	}
	return sign{}, false
}

// last is the newest sign of a weight, nil when there is none.
func last(all []sign, w weight) *sign {
	for i := range slices.Backward(all) {
		if all[i].weight == w {
			return &all[i]
		}
	}
	return nil
}
