// Package doctor checks that a machine can run the embedded cluster, and says
// how to add what is missing. It changes nothing.
//
// Look gathers facts; Judge turns them into findings. Findings depend only on
// the facts.
package doctor

// Level is how much a finding matters.
type Level string

// The levels of findings.
const (
	OK    Level = "ok"
	Warn  Level = "warn"  // the cluster runs, with less
	Block Level = "block" // the cluster does not run
)

// Finding is the result of one check.
type Finding struct {
	Check string   `json:"check"`
	Level Level    `json:"level"`
	Says  string   `json:"says"`
	Mend  []string `json:"mend,omitempty"` // lines for a shell; those that begin with # explain
}

// Report is the doctor's answer to a program. Version is that of the program that looked.
type Report struct {
	Version  string    `json:"version"`
	Findings []Finding `json:"findings"`
}

// Facts are what the checks look at.
type Facts struct {
	Kernel   string // such as "6.1.0-18-amd64"
	MilliCPU int64  // thousandths of a processor that this process may use
	Root     bool   // this user has all rights
	User     string // its name
	Apt      bool   // the machine installs packages with apt-get

	Sysctls    map[string]string // kernel settings, those that the kernel has
	Namespaces string            // why they are refused; empty: they are not
	Overlay    string            // why the data folder cannot hold what pods write; empty: it can
	Folder     string            // why the data folder cannot be; empty: it can

	IDHelpers bool // newuidmap and newgidmap
	IDRanges  bool // in /etc/subuid and /etc/subgid

	NoCgroups string // why limits cannot be kept by control groups; empty: they can
	NoCgroup2 bool   // because there are none of version 2
	NoControl bool   // because this process's group is not given what limits take
	Systemd   bool   // systemd runs the machine

	Home         string
	HomeType     string // of its file system
	FreeDisk     uint64 // bytes
	Memory       uint64 // bytes that the machine has
	FreeMemory   uint64 // bytes that new processes can have
	OpenFiles    uint64 // hard limit
	GPUs         int
	MissingTools []Tool
	Python       Python

	MissingPrograms []string // paths of those that belong beside this one
	OtherBuilds     []string // those that were built from something else, and what differs
}

// Tool is a program that some jobs run.
type Tool struct {
	Name    string
	Package string // of Debian
	For     string
}

// tools are looked for in the folders that pods have in their PATH.
var tools = []Tool{
	{"mpirun", "openmpi-bin", "MPI jobs"},
	{"sshd", "openssh-server", "MPI jobs"},
	{"ssh", "openssh-client", "MPI jobs"},
	{"python3", "python3", "jobs in Python"},
	{"git", "git", "jobs that fetch their source"},
}
