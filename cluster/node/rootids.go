package node

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/volumes"
	"github.com/argosy-ml/argosy/cluster/runtime/cgroup"
	"github.com/argosy-ml/argosy/cluster/runtime/idmap"
	"github.com/argosy-ml/argosy/cluster/runtime/image"
)

// startShifted prepares the first process of the sandbox of a cluster that root runs: root in there is an id outside that no account
// has. What the sandbox needs of root's files is mounted for it as its own.
func startShifted(cmd *exec.Cmd, o options) (start func() error, err error) {
	h := home.Home(o.home)
	ids, err := idmap.Take(h)
	if err != nil {
		return nil, err
	}
	images, err := image.Open(h.Images())
	if err != nil {
		return nil, err
	}
	if err := images.Shift(ids.First, idmap.Count); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own := append([]string{o.home}, o.hostPaths...) // in folders that their owner lists pods have root's rights, as the owner has
	frozen := []string{h.Shared()}
	for _, folder := range []string{filepath.Dir(self), registryKeys(), volumes.KeptPrograms()} {
		if _, err := os.Stat(folder); err == nil && !idmap.Reachable(folder) {
			own, frozen = append(own, folder), append(frozen, folder)
		}
	}
	view, err := idmap.NewView(ids, own...)
	if err != nil {
		return nil, err
	}
	view.Hide(secretsOf(h)...)
	view.Freeze(frozen...) // others on the machine may read there: what pods wrote would be root's, set-user-id programs too
	if err := os.MkdirAll(h.Machine(), 0o755); err != nil {
		return nil, err
	}
	view.ShowRoot(h.Machine())
	o.root, o.covered = h.Machine(), view.Covered
	cmd.Args, cmd.Dir = o.args("holder"), "/"
	if o.cgroup == "" {
		return func() error { return view.Start(cmd) }, nil
	}
	path, err := cgroup.Open(o.cgroup).HandOver(int(ids.First), int(ids.First))
	if err != nil {
		return nil, err
	}
	group, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(group.Fd())
	return func() error {
		defer group.Close()
		return view.Start(cmd)
	}, nil
}

// secretsOf are the files of the data folder that the sandbox needs nothing of: keys but for the kubelet's own, and what the cluster knows.
func secretsOf(h home.Home) []string {
	secrets := []string{h.Etcd(), h.Objects(), h.ObjectKeys(), h.Kubeconfig()}
	for _, pattern := range []string{"cluster/pki/*.key", "cluster/*.kubeconfig"} {
		files, _ := fs.Glob(os.DirFS(string(h)), pattern) // the patterns are right
		for _, f := range files {
			secrets = append(secrets, filepath.Join(string(h), f))
		}
	}
	return slices.DeleteFunc(secrets, func(f string) bool { return f == h.KubeconfigOf("kubelet") || f == pki.File(h.PKI(), "kubelet", "key") })
}

// registryKeys returns the folder in which `docker login` stores credentials.
func registryKeys() string {
	folder, _ := os.UserHomeDir() // without a home there are no keys
	return cmp.Or(os.Getenv("DOCKER_CONFIG"), filepath.Join(folder, ".docker"))
}
