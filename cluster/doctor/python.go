package doctor

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Python is the python3 that pods find on this machine's files, and the caller's where it is another.
type Python struct {
	Path, Version string
	Missing       []string // modules that jobs in Python use, and this one lacks
	Caller        string   // the first python3 on the caller's PATH, if pods find another
}

// pythonModules are modules that jobs in Python use, and their packages of Debian.
var pythonModules = map[string]string{"mpi4py": "python3-mpi4py", "numpy": "python3-numpy"}

const (
	pythonTimeout = 10 * time.Second
	askPython     = `import importlib.util, platform
print(platform.python_version(), *(m for m in ("mpi4py", "numpy") if not importlib.util.find_spec(m)))`
)

// pythonInTime gives up when the python3 of pods does not answer.
func pythonInTime(ctx context.Context) Python {
	ctx, cancel := context.WithTimeout(ctx, pythonTimeout)
	defer cancel()
	return lookAtPython(ctx)
}

// lookAtPython asks the python3 of pods, in their environment: an activated environment of the caller is not theirs.
func lookAtPython(ctx context.Context) (p Python) {
	for _, dir := range podPath {
		path := filepath.Join(dir, "python3")
		if unix.Access(path, unix.X_OK) != nil {
			continue
		}
		ask := exec.CommandContext(ctx, path, "-c", askPython)
		ask.Env = []string{"PATH=" + strings.Join(podPath, ":"), "HOME=/"}
		out, err := ask.Output()
		words := strings.Fields(string(out))
		if err != nil || len(words) == 0 { // what is wrong with it, jobs will tell
			return Python{}
		}
		p.Path, p.Version, p.Missing = path, words[0], words[1:]
		break
	}
	if caller, err := exec.LookPath("python3"); err == nil && p.Path != "" && resolved(caller) != resolved(p.Path) {
		p.Caller = caller
	}
	return p
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil && !inEnvironment(path) {
		return real
	}
	return path
}

// inEnvironment tells whether a program lies in a virtual environment of Python, whose python3 is a link to another with other modules.
func inEnvironment(path string) bool {
	return unix.Access(filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg"), unix.F_OK) == nil
}

// python says which Python jobs on this machine's files get. Without one, tools says so.
func (f Facts) python() Finding {
	p := f.Python
	if p.Path == "" {
		return Finding{}
	}
	says := "pods on this machine's files find " + p.Path + ", Python " + p.Version
	other := ""
	if p.Caller != "" {
		other = "; " + p.Caller + ", which you have on your PATH, is another"
	}
	if len(p.Missing) == 0 {
		return ok("python", "%s, with mpi4py and numpy%s", says, other)
	}
	var packages []string
	for _, m := range p.Missing {
		packages = append(packages, pythonModules[m])
	}
	return Finding{"python", Warn, says + ", without " + strings.Join(p.Missing, " and ") + other, []string{f.install(packages...)}}
}
