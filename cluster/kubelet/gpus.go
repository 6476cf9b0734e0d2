package kubelet

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/machine"
)

// gpuFile lies in the pod's folder.
const gpuFile = "gpus.json"

// readGPUs reads which GPUs a pod was given, for a kubelet that comes after.
func readGPUs(dir string) (gpus []machine.GPU, err error) {
	b, err := os.ReadFile(filepath.Join(dir, gpuFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &gpus)
	}
	return gpus, err
}

// rememberGPUs writes down which GPUs the pod has.
func (p *pod) rememberGPUs() error {
	if len(p.gpus) == 0 {
		return nil
	}
	b, err := json.Marshal(p.gpus)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	return replaceFile(p.path(gpuFile), b, 0o600)
}

// gpusOf are those of the pod's GPUs that a container has. Containers that live side by side have different ones; init
// containers are over before the others start and use the same.
func (p *pod) gpusOf(c *corev1.Container) []machine.GPU {
	count := func(c *corev1.Container) int {
		n := c.Resources.Limits[gpuResource]
		return int(n.Value())
	}
	first := 0
	own := func(o *corev1.Container) bool { return o.Name == c.Name }
	for i := range p.obj.Spec.InitContainers {
		o := &p.obj.Spec.InitContainers[i]
		if own(o) {
			break
		}
		if isSidecar(o) {
			first += count(o)
		}
	}
	if !slices.ContainsFunc(p.obj.Spec.InitContainers, func(o corev1.Container) bool { return own(&o) }) {
		for i := range p.obj.Spec.Containers {
			if own(&p.obj.Spec.Containers[i]) {
				break
			}
			first += count(&p.obj.Spec.Containers[i])
		}
	}
	first = min(first, len(p.gpus))
	return p.gpus[first:min(first+count(c), len(p.gpus))]
}

// showGPUs tells a container's programs which GPUs are theirs. Where the node has none there is nothing to tell.
func (p *pod) showGPUs(c *corev1.Container, env environment) {
	if len(p.room().node.GPUs) == 0 {
		return
	}
	var indices, ids []string
	for _, g := range p.gpusOf(c) {
		indices = append(indices, strconv.Itoa(g.Index))
		// Only its own devices are in the container, where they may be counted anew: an id is right however they are.
		ids = append(ids, cmp.Or(g.UUID, strconv.Itoa(g.Index)))
	}
	env["CUDA_VISIBLE_DEVICES"], env["NVIDIA_VISIBLE_DEVICES"] = strings.Join(ids, ","), "void"
	if len(indices) > 0 {
		env["NVIDIA_VISIBLE_DEVICES"], env["CUDA_DEVICE_ORDER"] = strings.Join(indices, ","), "PCI_BUS_ID"
	}
}

// devicesOf are the files below /dev that a container has for its GPUs.
func (p *pod) devicesOf(c *corev1.Container) []string {
	var all []string
	for _, g := range p.gpusOf(c) {
		all = append(all, g.Devices...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
