package doctor

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// healthy is a machine without findings.
func healthy() Facts {
	return Facts{
		Kernel: "6.1.0", MilliCPU: 7500, User: "ann", Apt: true,
		Sysctls: map[string]string{
			"kernel.unprivileged_userns_clone": "1", "kernel.apparmor_restrict_unprivileged_userns": "0", "user.max_user_namespaces": "63000",
			"fs.inotify.max_user_instances": "128", "fs.inotify.max_user_watches": "8192",
		},
		IDHelpers: true, IDRanges: true,
		Systemd: true,
		Python:  Python{Path: "/usr/bin/python3", Version: "3.11.2"},
		Home:    "/home/ann/.local/share/argosy", HomeType: "ext4", FreeDisk: 50 * gib, Memory: 16 * gib, FreeMemory: 8 * gib, OpenFiles: 1 << 20,
	}
}

func TestNothingToMend(t *testing.T) {
	t.Parallel()
	findings := Judge(healthy())
	require.Len(t, findings, 13)
	for _, f := range findings {
		require.Equal(t, OK, f.Level, "%s: %s", f.Check, f.Says)
		require.Empty(t, f.Mend, f.Check)
	}
}

// Each trouble is found by its check, and the way to mend it is a line that can be typed.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Facts)
		check  string
		level  Level
		says   string
		mend   string
	}{
		"debian's switch": {
			func(f *Facts) { f.Namespaces, f.Sysctls["kernel.unprivileged_userns_clone"] = "refused", "0" },
			"namespaces", Block, "refused", "sudo sysctl -w kernel.unprivileged_userns_clone=1    # it is 0",
		},
		"apparmor": {
			func(f *Facts) {
				f.Namespaces, f.Sysctls["kernel.apparmor_restrict_unprivileged_userns"] = "refused", "1"
			},
			"namespaces", Block, "refused", "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0    # it is 1",
		},
		"no user namespaces": {
			func(f *Facts) { f.Namespaces, f.Sysctls["user.max_user_namespaces"] = "refused", "0" },
			"namespaces", Block, "refused", "sudo sysctl -w user.max_user_namespaces=15000",
		},
		"seccomp":          {func(f *Facts) { f.Namespaces = "refused" }, "namespaces", Block, "refused", "docker run --security-opt seccomp=unconfined"},
		"root without it":  {func(f *Facts) { f.Namespaces, f.Root = "refused", true }, "namespaces", Block, "refused", "docker run --privileged"},
		"no newuidmap":     {func(f *Facts) { f.IDHelpers = false }, "user ids", Warn, "newuidmap is not installed", "sudo apt-get install -y uidmap"},
		"no ranges":        {func(f *Facts) { f.IDRanges = false }, "user ids", Warn, "ann has no ranges", "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ann"},
		"another packager": {func(f *Facts) { f.IDHelpers, f.Apt = false, false }, "user ids", Warn, "newuidmap", "# with your package manager; Debian's names are: uidmap"},
		"no folder":        {func(f *Facts) { f.Folder = "it is a file" }, "data folder", Block, "it is a file", "argosy up --home FOLDER"},
		"no overlay":       {func(f *Facts) { f.Overlay = "invalid argument" }, "overlay", Block, "invalid argument", "argosy up --home FOLDER"},
		"old groups":       {func(f *Facts) { f.NoCgroups, f.NoCgroup2 = "none", true }, "limits", Warn, "none: CPU is limited to whole processors", "systemd.unified_cgroup_hierarchy=1"},
		"not delegated":    {func(f *Facts) { f.NoCgroups = "not delegated" }, "limits", Warn, "not delegated: ", "systemd-run --user --scope -p Delegate=yes argosy up"},
		"in a container":   {func(f *Facts) { f.NoCgroups, f.Systemd = "not writable", false }, "limits", Warn, "not writable: ", "docker run --privileged --cgroupns=private"},
		"no controller":    {func(f *Facts) { f.NoCgroups, f.NoControl = "no cpu", true }, "limits", Warn, "no cpu: ", "Delegate=cpu cpuset io memory pids"},
		"root, not given":  {func(f *Facts) { f.Root, f.NoCgroups, f.NoControl = true, "no cpu", true }, "limits", Warn, "no cpu: ", "systemd-run --scope -p Delegate=yes argosy up"},
		"no memory":        {func(f *Facts) { f.FreeMemory = 100 * mib }, "memory", Block, "100 MiB of 16.0 GiB are free; the cluster itself needs 700 MiB", "ps aux"},
		"little memory":    {func(f *Facts) { f.FreeMemory = gib }, "memory", Warn, "1.0 GiB of 16.0 GiB", "ps aux"},
		"full disk":        {func(f *Facts) { f.FreeDisk = 20 * mib }, "disk", Block, "20 MiB are free for /home/ann/.local/share/argosy (ext4)", "du -xh --max-depth=2 /home/ann"},
		"little disk":      {func(f *Facts) { f.FreeDisk = gib }, "disk", Warn, "little for images", "argosy up --home FOLDER"},
		"remote disk":      {func(f *Facts) { f.HomeType = "nfs" }, "disk", Warn, "over the network", "on a local disk"},
		"few files":        {func(f *Facts) { f.OpenFiles = 1024 }, "open files", Warn, "only 1024 files", "sudo tee /etc/security/limits.d/argosy.conf"},
		"few watches":      {func(f *Facts) { f.Sysctls["fs.inotify.max_user_instances"] = "16" }, "inotify", Warn, "fs.inotify.max_user_instances is 16", "sudo sysctl -w fs.inotify.max_user_instances=1024"},
		"missing program":  {func(f *Facts) { f.MissingPrograms = []string{"/x/argoexec"} }, "programs", Block, "there is no /x/argoexec", "make build"},
		"other build":      {func(f *Facts) { f.OtherBuilds = []string{"argosy-podinit (go1.1 there)"} }, "programs", Warn, "argosy-podinit (go1.1 there)", "make build"},
		"missing tools":    {func(f *Facts) { f.MissingTools = tools[:3] }, "tools", Warn, "mpirun (MPI jobs)", "sudo apt-get install -y openmpi-bin openssh-server openssh-client"},
		"missing modules":  {func(f *Facts) { f.Python.Missing = []string{"mpi4py"} }, "python", Warn, "pods on this machine's files find /usr/bin/python3, Python 3.11.2, without mpi4py", "sudo apt-get install -y python3-mpi4py"},
		"another python":   {func(f *Facts) { f.Python.Caller = "/home/ann/venv/bin/python3" }, "python", OK, "with mpi4py and numpy; /home/ann/venv/bin/python3, which you have on your PATH, is another", ""},
		"gpus":             {func(f *Facts) { f.GPUs = 2 }, "gpus", OK, "2 found", ""},
		"system":           {func(*Facts) {}, "system", OK, "Linux 6.1.0, 7.5 CPUs", ""},
		"old kernel":       {func(f *Facts) { f.Kernel = "5.4.0-100-generic" }, "system", Block, "Linux 5.4.0-100-generic is too old", "a newer kernel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := healthy()
			c.change(&facts)
			for _, f := range Judge(facts) {
				if f.Check != c.check {
					require.Equal(t, OK, f.Level, "%s: %s", f.Check, f.Says)
					continue
				}
				require.Equal(t, c.level, f.Level, f.Says)
				require.Contains(t, f.Says, c.says)
				require.Contains(t, strings.Join(f.Mend, "\n"), c.mend)
				require.Equal(t, c.level == OK, len(f.Mend) == 0, "what is wrong has a way to mend it")
				return
			}
			t.Fatalf("no finding of %s", c.check)
		})
	}
}

// Root needs no sudo, and no ranges of ids: its pods have ids of their own.
func TestRoot(t *testing.T) {
	t.Parallel()
	facts := healthy()
	facts.Root, facts.IDHelpers, facts.IDRanges, facts.OpenFiles, facts.MissingTools = true, false, false, 1, tools
	for _, f := range Judge(facts) {
		if f.Check == "user ids" {
			require.Equal(t, ok("user ids", "root in a pod is a user id that no account of this machine has"), f)
		}
		require.NotContains(t, strings.Join(f.Mend, "\n"), "sudo", f.Check)
	}
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	build := func(goVersion, kubernetes string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: goVersion, Deps: []*debug.Module{{Path: "k8s.io/api", Version: kubernetes}}}
	}
	this := build("go1.26", "v0.34.4")
	require.Empty(t, differs(this, this))
	require.Equal(t, "go1.25 there, go1.26 here", differs(this, build("go1.25", "v0.34.4")))
	require.Equal(t, "k8s.io/api v0.34.3 there, v0.34.4 here", differs(this, build("go1.26", "v0.34.3")))
	require.Empty(t, differs(this, &debug.BuildInfo{GoVersion: "go1.26"}), "each has libraries that the other has not")
}
