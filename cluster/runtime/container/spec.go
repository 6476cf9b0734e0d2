// Package container turns a process into a container: it assembles a private
// file system, joins the pod's namespaces, gives up what a container must not
// have, and runs a command. The kubelet describes the container in a Spec;
// argosy-podinit, a small static program, carries it out.
package container

import (
	"cmp"
	"os"
)

// Kinds of a Layer.
const (
	// Overlay is a folder of the host seen copy-on-write.
	Overlay = "overlay"
	// Mirror is a folder that cannot carry an overlay, because of mounts below it that this user may not remove, or a file system that
	// ignores case. The container gets a folder of its own that shows each entry of the host's, read-only.
	Mirror = "mirror"
	// Fresh is an empty folder: the host's own cannot be read by this user.
	Fresh = "fresh"
	// Symlink is a symbolic link of the host's root folder.
	Symlink = "symlink"
	// Plain is a folder of the host that the container sees unchanged: read-only, without the container's own files.
	Plain = "plain"
)

// Layer is one piece of the host that a container's root is made of.
type Layer struct {
	Path   string // absolute, on the host and in the container
	Kind   string
	Target string `json:",omitempty"` // of a Symlink
	Source string `json:",omitempty"` // where an Overlay is seen on the host, if that is not at Path
	// ReadOnly marks a folder of a read-only file system. An Overlay becomes Plain in containers that change nothing in it, which costs
	// less.
	ReadOnly bool `json:",omitempty"`
}

func (l Layer) source() string { return cmp.Or(l.Source, l.Path) }

// Image is a container's root that is made of an image's layers instead of the host's folders.
type Image struct {
	Folder string   // holds the unpacked layers
	Layers []string // their names there, topmost first
	// Folders are made where the image lacks them.
	Folders []string `json:",omitempty"`
}

// Mount shows a file or folder of the sandbox inside the container.
type Mount struct {
	Source   string
	SubPath  string `json:",omitempty"` // place inside Source, which no symbolic link leads out of; made when missing
	Target   string // absolute, in the container; made when missing
	ReadOnly bool   `json:",omitempty"`
	// Host means that Source is a folder of the machine that the cluster's owner lists, and Place a path in it from a pod or a persistent
	// volume. Symbolic links cannot lead out of the folder. A mount that would show anything of Guarded is refused.
	Host  bool   `json:",omitempty"`
	Place string `json:",omitempty"`
	// Optional: leave the mount out when the source does not exist.
	Optional bool `json:",omitempty"`
}

// File is written into the private root before volumes are mounted.
type File struct {
	Path string
	Mode os.FileMode `json:",omitempty"`
	Data []byte      `json:",omitempty"`
	Link string      `json:",omitempty"` // makes it a symbolic link to here
}

// User is the identity a command runs with. Nil means root of the container.
type User struct {
	UID uint32
	// Name is an image's USER, `user` or `user:group`, each a name or a number of the container's own accounts. It
	// takes the place of UID, and of GID where that is nil.
	Name   string   `json:",omitempty"`
	GID    *uint32  `json:",omitempty"` // nil: that of UID in the container's /etc/passwd, else 0
	Groups []uint32 `json:",omitempty"`
	// Merge adds the groups that list UID as a member in the container's /etc/group.
	Merge bool `json:",omitempty"`
}

// Process is a command in a container.
type Process struct {
	Args []string
	Env  []string // without HOME, the user's own is added
	Dir  string   // working folder; made when missing by Run, "/" when empty
	User *User    `json:",omitempty"`
	// Privileged keeps all capabilities the sandbox has, or those in Capabilities, and may use keys of the kernel.
	Privileged bool `json:",omitempty"`
	// Capabilities are the numbers of those that the command, if root, has and that no program it starts can exceed; nil
	// means the usual ones, or all of them with Privileged.
	Capabilities []uintptr
	// NoNewPrivileges: set-user-id programs and file capabilities give nothing.
	NoNewPrivileges bool `json:",omitempty"`
	// Seccomp refuses the calls that the profile RuntimeDefault does, going by Capabilities.
	Seccomp bool `json:",omitempty"`
	// FakeOwners makes chown and setgroups succeed without an effect: the sandbox has only one user id, and programs such as sshd insist on
	// both calls.
	FakeOwners bool `json:",omitempty"`
	// MaxData is how much memory of its own each process may map, in bytes; 0 means no limit.
	MaxData uint64 `json:",omitempty"`
	// MaxProcesses is how many processes and threads the user may have in all containers before this container can start no more; 0 means no limit.
	MaxProcesses uint64 `json:",omitempty"`
	// CPUs are the numbers of the processors that processes may use; nil means all.
	CPUs []int `json:",omitempty"`
	// SelfExec runs argosy-podinit itself with Args instead of a program of the
	// container.
	SelfExec bool `json:",omitempty"`
}

// Spec describes one container.
type Spec struct {
	Process
	Scratch string   // folder for the private root and what the container writes; removed by the caller
	Image   *Image   `json:",omitempty"` // in place of Layers, Private and whatever else comes from the host
	Layers  []Layer  // see Host.Layers
	Hidden  []string // folders and files of the host that the container does not see; the folders are empty
	Guarded []string // folders of the host that no volume shows
	Private []string // folders that get an empty tmpfs
	Files   []File
	Over    string   `json:",omitempty"` // folder whose files lie over those of the Layers that are overlays, see LayOver
	Empty   []string `json:",omitempty"` // folders that show what Over has there, and nothing of the machine's
	Mounts  []Mount
	Shm     string // folder that becomes /dev/shm, shared by the pod; empty: one of its own
	// Devices are the files below /dev that this container has besides those that every container has.
	Devices []string `json:",omitempty"`
	// MaxInMemory is how much each of the container's file systems in memory holds, in bytes; 0 is half of the machine's memory.
	MaxInMemory int64 `json:",omitempty"`
	// ReadOnlyRoot leaves only volumes and /dev/shm to be written.
	ReadOnlyRoot bool `json:",omitempty"`
	// UnmaskedProc shows all of /proc and lets root write the kernel's settings there.
	UnmaskedProc bool `json:",omitempty"`
	// Hostname of the container; empty where the pod's namespace has it already.
	Hostname string `json:",omitempty"`
}

// Descriptors that argosy-podinit inherits.
const (
	SpecFD    = 3 // a file with the Spec as JSON
	StatusFD  = 4 // a byte comes when the command may begin; then an error's text goes, or nothing when it has
	PidFD     = 5 // of the container to join
	ConsoleFD = 6 // a socket to which a terminal's outer end is sent, where one is wanted
)

// ExitNotStarted is the exit code of a container whose command could not be started.
const ExitNotStarted = 128
